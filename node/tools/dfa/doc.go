// Package dfa finds lines that match a regular expression, several times faster than package regexp, which it agrees with.
//
// A [Program] is made once per expression and shared; every goroutine has a [Machine] of its own, which builds the states of a
// deterministic automaton as the text asks for them and forgets them when they grow too many: memory is bounded, and so is the time per
// byte. Because only whether a line matches is asked, and not where, assertions are part of the automaton.
//
// Lines end with a line feed or with a carriage return and a line feed, which are no part of the line. ^ \A (?m)^ are the beginning of
// a line, $ \z (?m)$ its end.
package dfa
