// Package llmserver runs a real llama-server for tests, with a model whose output the prompt
// determines exactly.
//
// The server is llama.cpp's own program, see packaging/llama-server.sh. The model is a GGUF file
// that [WriteScripted] generates: one layer whose attention looks back by a fixed distance and
// repeats the token that it finds there. The chat template in the file ends every prompt with a
// plan of exactly that length, so the model outputs the plan, token by token, through the real
// tokenizer, sampler, grammar and parsers of the server. No trained weights are used.
//
// The plan follows the first line of the last user message that matches (ignoring case; calls need
// the tools):
//
//	steps N             a __Bash call "echo step K" in each step, N steps, and then "All N steps are done."
//	think TEXT          a thought and then TEXT
//	say TEXT            TEXT, without thinking
//	run COMMAND         thought, "I will run it.", a call of the first tool whose name ends in __Bash
//	call SUFFIX ARGS    only a call of the first tool whose name ends in SUFFIX, with the
//	                    JSON object ARGS unchanged
//	… forever …         words without end
//	… two …             thought, "I will do both.", two calls in one step: __Bash as with list, and __Glob {"pattern": "*"}
//	… list …            thought, "I will look.", a __Bash call {"command": "echo hello from the model"}
//	anything else       "Hello from a scripted model in a real server."
//
// After the results of its calls it answers "The tool answered: " and the beginning of the last
// result. Its output in one step is cut to [MaxPlan] bytes.
package llmserver
