// Package lists makes new slices and maps from others, for values that are shared and must not change.
package lists

import (
	"maps"
	"slices"
)

// Replace returns a new list with x in place of the element that same finds, or last.
func Replace[T any](list []T, x T, same func(T) bool) []T {
	out := slices.Clone(list)
	if i := slices.IndexFunc(out, same); i >= 0 {
		out[i] = x
		return out
	}
	return append(out, x)
}

// Find returns the first element that matches.
func Find[T any](list []T, match func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(list, match); i >= 0 {
		return list[i], true
	}
	return found, false
}

// Without returns a new list without some elements.
func Without[T any](list []T, gone func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), gone)
}

// Map returns the results of f for the elements of a list.
func Map[T, R any](list []T, f func(T) R) []R {
	out := make([]R, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// TrueFirst compares for an order in which true precedes false.
func TrueFirst(a, b bool) int {
	order := map[bool]int{true: 0, false: 1}
	return order[a] - order[b]
}

// MapWith returns a copy of a map that has the value for some keys, or does not have the keys.
func MapWith[K comparable, V any](m map[K]V, value V, present bool, keys ...K) map[K]V {
	out := make(map[K]V, len(m)+len(keys))
	maps.Copy(out, m)
	for _, key := range keys {
		out[key] = value
		if !present {
			delete(out, key)
		}
	}
	return out
}
