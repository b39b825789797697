//go:build race

package aws_test

// raceDetector is whether the race detector is on, which makes the exploration take three times as long. make test runs this package with and without it.
const raceDetector = true
