//go:build race

package gateway_test

// raceDetector says that everything takes many times as long.
const raceDetector = true
