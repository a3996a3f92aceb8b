// Package pattern translates regular expressions from the syntax of Rust's regex crate into trees
// for package dfa.
//
// Package regexp/syntax cannot parse them: it lacks set operations in classes, verbose mode, the
// assertions \< and \b{start} and most Unicode properties, limits repetitions to 1,000, and
// restricts \d, \w, \s and \b to ASCII. Properties and letters' cases are of the version of Unicode
// that Rust has, whatever package unicode has.
//
// Trees have no captures, and repetitions are neither lazy nor greedy, because the trees decide
// whether a line matches, not where. In addition to Rust's syntax, as in RE2, \Q...\E quotes text,
// \p{^Greek} is \P{Greek}, and a brace that begins no repetition is literal.
package pattern
