// Package dfa finds lines that match a regular expression. It is several times faster than package
// regexp and gives the same answers.
//
// A [Program] is made once per expression and is shared. Every goroutine has its own [Machine],
// which builds the states of a deterministic automaton as the text requires them and discards them
// when they become too many: both memory and time per byte are bounded. Because it only decides
// whether a line matches, not where, assertions are part of the automaton.
//
// Lines end with a line feed, or with a carriage return and a line feed, neither of which is part
// of the line. ^ \A (?m)^ match the beginning of a line, $ \z (?m)$ its end.
package dfa
