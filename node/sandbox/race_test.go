//go:build race

package sandbox_test

// raceDetector says that everything takes many times longer.
const raceDetector = true
