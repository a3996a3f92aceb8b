package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
)

// about describes each setting. "*" stands for a name that the person chooses. A test checks that
// it has exactly the existing settings.
var about = map[string]string{
	"model.provider":                               "The provider that answers where a chat says nothing else; \"operator\" is the built-in one, which needs no model.",
	"model.id":                                     "The model of that provider.",
	"model.thinkingLevel":                          "How long the model may think before it answers; empty leaves it to the model.",
	"apiKeys.*":                                    "The key for the provider of this name. It is kept in the system's keychain.",
	"providers.*.baseUrl":                          "The address of the provider's API, when it is another than its own.",
	"providers.*.wire":                             "What the server speaks: \"chat\" or \"responses\"; empty decides by the address.",
	"timeouts.llmMs":                               "How long a model may take for one step.",
	"timeouts.toolMs":                              "How long a tool may take, unless the call itself asks for more.",
	"auth.token":                                   "The token that clients and nodes connect with. A new one is in force at once; who is connected stays.",
	"agent.maxSteps":                               "How many steps a run may take before you are asked whether it shall go on.",
	"approvals.timeoutMs":                          "After which time a question that nobody answers counts as not allowed; 0 is never, or a day for schedules, the heartbeat and strangers on channels.",
	"approvals.tell.channel":                       "The channel over which you are told that a question waits and no window shows it; empty tells nobody.",
	"approvals.tell.accountId":                     "The channel's account that tells you; empty is its only one.",
	"approvals.tell.to":                            "Your own address on that channel.",
	"toolApproval.defaultDecision":                 "What happens to a call with an effect that no rule decides.",
	"toolApproval.rules":                           "Rules in the original's form: each decides the calls whose tool and arguments it describes. Deny goes before ask, ask before allow.",
	"systemPrompt":                                 "What every agent is told first, unless its chat or the agent says otherwise.",
	"session.mainKey":                              "The last part of the main chat's key.",
	"session.dmScope":                              "Which direct messages share a chat: all of them, those of one person, or those of one person on one channel or account.",
	"session.identityLinks.*":                      "The addresses under which one person writes on different channels, so that they have one chat.",
	"session.defaultResetPolicy.mode":              "When a chat starts afresh by itself: never, each day, or after a silence.",
	"session.defaultResetPolicy.atHour":            "The hour of the day, in your time zone, for a daily start.",
	"session.defaultResetPolicy.idleMinutes":       "How long the silence must last.",
	"userTimezone":                                 "Your time zone, for the date the agent is told and for schedules.",
	"transcription.baseUrl":                        "The address of an OpenAI-compatible server that writes down what is said in audio files.",
	"transcription.model":                          "The model that writes it down.",
	"ui.theme":                                     "Light or dark windows, or as the system has it.",
	"ui.textSize":                                  "Size of the text in windows; 1 is normal.",
	"ui.firstRunDone":                              "Whether the first page has been answered.",
	"network.enabled":                              "Whether other machines can reach this gateway: encrypted, and only those that you have paired.",
	"network.listen":                               "Where it listens for them, as host:port; an empty host means every network of this computer.",
	"network.discovery":                            "Whether this computer makes itself known on the local network while others can reach it.",
	"agents.list":                                  "Agents beside the main one, each with its own workspace.",
	"agents.bindings":                              "Which agent answers on which channel, account or to whom.",
	"agents.defaultHeartbeat.every":                "How often an agent looks after things by itself, such as \"30m\"; \"0m\" is never.",
	"agents.defaultHeartbeat.prompt":               "What it is told then, instead of the usual.",
	"agents.defaultHeartbeat.target":               "Where it reports: \"last\" is where you wrote last, \"none\" nowhere, or a channel.",
	"agents.defaultHeartbeat.activeHours.start":    "From which time of day, as HH:MM.",
	"agents.defaultHeartbeat.activeHours.end":      "Until which time of day, as HH:MM.",
	"agents.defaultHeartbeat.activeHours.timezone": "In which time zone; empty is yours.",
	"compaction.enabled":                           "Whether a chat is shortened before it outgrows the model. Its full history is kept.",
	"compaction.reserveTokens":                     "How many tokens stay free for the answer.",
	"compaction.keepRecentTokens":                  "How many tokens of the newest messages stay as they are.",
	"compaction.extractMemories":                   "Whether what is worth remembering is written to the agent's memory first.",
	"cron.enabled":                                 "Whether schedules run.",
	"cron.maxJobs":                                 "How many jobs there may be.",
	"cron.maxRunsPerJobHistory":                    "How many past runs of a job are kept.",
	"cron.maxConcurrentRuns":                       "How many jobs may run at the same time.",
	"channels.*.dmPolicy":                          "Who may write to the agent there: everybody, those listed, or those you have let in.",
	"channels.*.allowFrom":                         "Who is listed.",
	"channels.*.owners":                            "Your own addresses there: from them, /new, /model and other commands work in direct messages.",
	"skills.entries.*.enabled":                     "Whether the skill may be used.",
	"skills.entries.*.always":                      "Whether its text is always part of what the agent is told.",
	"skills.entries.*.requires.capabilities":       "What a machine must be able to do for it, instead of what the skill says.",
	"transcription.provider":                       "Who turns speech into text.",
}

// restart lists the settings that take effect only after a restart of the gateway.
var restart = map[string]bool{}

// Schema describes every setting, in the order of config.get. It does not change while the gateway
// runs.
func Schema() []protocol.ConfigField {
	var list []protocol.ConfigField
	describeAll("", reflect.ValueOf(Default()), "", "", &list)
	return list
}

// describeAll appends the settings below v. It also describes the values behind nil pointers and
// empty maps.
func describeAll(path string, v reflect.Value, tag reflect.StructTag, secret string, list *[]protocol.ConfigField) {
	there, t := true, v.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
		if v.IsNil() {
			v, there = reflect.New(t).Elem(), false
		} else {
			v = v.Elem()
		}
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
			part := v.Field(i)
			describeAll(join(path, name), part, f.Tag, f.Tag.Get("secret"), list)
			if last := &(*list)[len(*list)-1]; !there || strings.Contains(opts, "omitempty") && part.IsZero() {
				last.Default = nil
			}
		}
		return
	case reflect.Map:
		describeAll(join(path, "*"), reflect.New(t.Elem()).Elem(), tag, secret, list)
		last := &(*list)[len(*list)-1]
		last.Default = nil
		return
	}
	f := protocol.ConfigField{
		Path: path, Title: titles[path], Group: groupOf(path), Type: typeName(t), Unit: units[path], Description: about[path],
		Secret: secret != "", Restart: restart[path],
	}
	if t.Kind() == reflect.Slice {
		f.Items = typeName(t.Elem())
	}
	if there && !f.Secret && !strings.Contains(path, "*") {
		f.Default, _ = protocol.Marshal(v.Interface()) // plain data, which always encodes
	}
	if one, ok := tag.Lookup("oneof"); ok {
		f.Enum = strings.Split(one, ",")
	}
	f.Min, f.Max = bound(tag.Get("min")), bound(tag.Get("max"))
	switch {
	case path == "model.provider":
		f.Enum = slices.Clone(protocol.ProviderIDs)
	case path == "session.defaultResetPolicy.mode":
		f.Enum = slices.Clone(resetModes)
	case path == "session.defaultResetPolicy.atHour":
		f.Min, f.Max = bound("0"), bound("23")
	case path == "session.defaultResetPolicy.idleMinutes":
		f.Min = bound("0")
	case tag.Get("url") != "":
		f.Format = protocol.FormatURL
	case strings.HasSuffix(path, "Heartbeat.every"):
		f.Format = protocol.FormatDuration
	case strings.HasSuffix(path, "Ms"):
		f.Format = protocol.FormatMillis
	case strings.HasSuffix(strings.ToLower(path), "timezone"):
		f.Format = protocol.FormatTimeZone
	case path == "systemPrompt" || strings.HasSuffix(path, ".prompt"):
		f.Format = protocol.FormatLines
	}
	*list = append(*list, f)
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "list"
	case reflect.Struct:
		return "object"
	}
	return "string"
}

func bound(text string) *float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &n
}

// Schema returns the description of every setting; see the function of the same name.
func (s *Store) Schema() []protocol.ConfigField { return Schema() }
