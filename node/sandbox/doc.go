// Package sandbox starts the commands of the node's tools, contained as strongly as the machine allows, and ends all that they started.
//
// Two promises are kept apart. Life-time: a command and everything that came from it can be ended as a whole, also what left its process
// group, and dies with the node. Containment: what files, network and other processes a command can reach. What is really enforced on this
// machine is tried out by doing it, never assumed, and told by [Box.Report]; a profile that requires containment is refused with
// [Unavailable] when a try failed. Looking at the words of a command ([CheckTokens]) is help where nothing can be enforced, not containment.
package sandbox
