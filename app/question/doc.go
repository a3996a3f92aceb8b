// Package question says in words what a question about a call would do, and reads and changes what
// the person may change in it: the network, the folders, the parts of a change, the rule for later
// calls. It has the kinds of questions with their titles, and decides when an answer counts. It
// contains no GUI toolkit.
package question
