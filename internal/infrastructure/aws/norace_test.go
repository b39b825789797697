//go:build !race

package aws_test

// raceDetector is whether the race detector is on.
const raceDetector = false
