//go:build !linux || !cgo

package app

func trim() {}
