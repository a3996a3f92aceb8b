//go:build darwin && !cgo

package notify

// open has plain notifications only: the system's notification center is reached through C.
func open(Actions) (system, error) { return script{}, nil }
