// Package llmtest provides a [llm.Model] for tests that plays a script.
//
//	m := llmtest.Script(
//		llmtest.Say("I will look.").Call("laptop__Bash", `{"command":"ls"}`),
//		llmtest.Say("Two files."),
//	)
//
// Each request plays the next step. The received requests are in [Model.Requests].
package llmtest
