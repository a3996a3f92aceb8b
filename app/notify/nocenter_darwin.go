//go:build darwin && !cgo

package notify

// open always selects plain notifications: the system's notification center needs cgo.
func open(Actions) (system, error) { return script{}, nil }
