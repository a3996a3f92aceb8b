package ask

import (
	"cmp"
	"fmt"
	"strings"

	"fairlead/gateway/llm"
)

// ModelRefusal is the reason for [Ending] when the model itself refuses to answer.
const ModelRefusal = "model_refusal"

// endings are the reasons with which providers end an answer, in lower case with underscores.
var endings = func() map[string]string {
	all := map[string]string{}
	for stop, reasons := range map[string]string{
		llm.StopEnd: "stop end end_turn end_of_text stop_sequence eos eos_token complete completed done finished load unload " +
			"tool_use tool_call tool_calls function_call function_calls",
		llm.StopMaxTokens: "length max_length max_tokens max_output_tokens model_length token_limit model_context_window_exceeded",
		llm.StopRefusal: ModelRefusal + " content_filter content_filtered refusal safety recitation language blocklist prohibited_content spii sensitive " +
			"image_safety image_prohibited_content image_recitation guardrail_intervened moderation model_armor blocked",
		llm.StopError: "error failed cancelled abort aborted network_error insufficient_system_resource malformed_function_call unexpected_tool_call malformed_response",
	} {
		for reason := range strings.FieldsSeq(reasons) {
			all[reason] = stop
		}
	}
	return all
}()

// Ending returns the event at the end of an answer: reason is the provider's word for it, "" if
// none exists, and explanation the provider's sentence, which may be empty. hasCalls reports
// whether the answer has tool calls. A reason that means a failure of the server is an error that
// allows another attempt. An unknown reason is [llm.StopIncomplete]: silence would make a part of
// an answer look like the whole.
func Ending(reason, explanation string, hasCalls bool) (llm.Event, error) {
	word := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(reason)), "-", "_")
	stop, known := endings[word]
	ev := llm.Event{Type: llm.EventStop, Stop: stop, Text: explanation}
	switch {
	case word == "" || stop == llm.StopEnd:
		ev.Stop = llm.StopEnd
	case !known:
		ev.Stop = llm.StopIncomplete
		ev.Text = cmp.Or(ev.Text, fmt.Sprintf("The provider ended the answer early (%.60s).", reason))
	case stop == llm.StopError:
		return ev, Broken(cmp.Or(explanation, fmt.Sprintf("the provider ended the answer because of an error (%s)", reason)))
	case stop == llm.StopRefusal:
		ev.Text = strings.TrimSpace(refusalText(word, reason) + " " + explanation)
	case word == "model_context_window_exceeded":
		ev.Text = "The chat and the answer fill the model's context window."
	}
	if hasCalls && (ev.Stop == llm.StopEnd || ev.Stop == llm.StopIncomplete) { // whatever the reason is
		ev.Stop, ev.Text = llm.StopToolUse, ""
	}
	return ev, nil
}

func refusalText(word, reason string) string {
	switch {
	case word == ModelRefusal:
		return "The model refused to answer."
	case word == "refusal":
		return "The provider's safety rules stopped the answer."
	case strings.Contains(word, "recitation"):
		return "The provider stopped the answer because it repeats a published text (" + reason + ")."
	case strings.Contains(word, "filter"):
		return "The provider's content filter stopped the answer."
	}
	return "The provider's safety rules stopped the answer (" + reason + ")."
}
