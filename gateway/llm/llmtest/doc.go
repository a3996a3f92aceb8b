// Package llmtest is test support: a [llm.Model] that says what a test wrote down.
//
//	m := llmtest.Script(
//		llmtest.Say("I will look.").Call("laptop__Bash", `{"command":"ls"}`),
//		llmtest.Say("Two files."),
//	)
//
// Each request plays the next step. What the model was asked is in [Model.Requests].
package llmtest
