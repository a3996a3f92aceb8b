// Package llmserver is test support: it runs a real llama-server with a model that does exactly what the prompt says.
//
// The server is llama.cpp's own program, see packaging/llama-server.sh. The model is a GGUF file that [WriteScripted] makes from nothing:
// one layer whose attention looks back by a fixed distance and repeats the token it finds there. The chat template inside
// the file ends every prompt with a plan of exactly that length, so what the template plans is what the model says, token
// by token, through the real tokenizer, sampler, grammar and parsers of the server. No weights come from anywhere.
//
// The plan follows the first line of the last user message that matches (case does not matter; calls need the tools):
//
//	steps N             a __Bash call "echo step K" in each step, N steps, and then "All N steps are done."
//	think TEXT          a thought and then TEXT
//	say TEXT            TEXT, without thinking
//	run COMMAND         thought, "I will run it.", a call of the first tool whose name ends in __Bash
//	call SUFFIX ARGS    only a call of the first tool whose name ends in SUFFIX, with the JSON object ARGS as it stands
//	… forever …         words without end
//	… two …             thought, "I will do both.", two calls in one step: __Bash as with list, and __Glob {"pattern": "*"}
//	… list …            thought, "I will look.", a __Bash call {"command": "echo hello from the model"}
//	anything else       "Hello from a scripted model in a real server."
//
// After the results of its calls it answers "The tool answered: " and the beginning of the last result. What it says in one
// step is cut to [MaxPlan] bytes.
package llmserver
