// Package agent is one run of the loop, as phases: a model step, the tool calls it asked for, the next step, until the model has nothing
// more to do. It does no I/O of its own: the model, the tools and the conversation are ports.
//
// A run can be taken up where it was left: when the conversation ends with calls that have no results, the first phase is tools. Every
// call has an id that follows from the message it stands in, so that the tools' journal knows it again.
package agent
