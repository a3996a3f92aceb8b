// Package diff shows unified diffs.
package diff
