//go:build race

package gateway_test

// raceDetector reports whether the race detector is on, which makes everything many times slower.
const raceDetector = true
