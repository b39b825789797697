package main

import (
	"fmt"

	"github.com/trellis-garden/trellis/e2e/internal/plot"
)

// picture is a plot with the name of its file.
type picture struct {
	file string
	plot.Plot
}

// pictures draws what grows with the number of shoots.
func pictures(all []scaleResult, record *monolith) []picture {
	limits := []plot.Line{
		flat("monolith after work", all, float64(record.Memory.Worked.Anonymous)),
		flat("allowed, empty", all, emptyAnonymous),
	}
	return []picture{
		{"time.svg", plot.Plot{Title: "Time until all shoots have converged", X: "shoots", Y: "seconds", Lines: lines(all,
			[]string{stepCreate, stepReconcile, stepRestart, stepDelete}, func(_ scaleResult, s stepResult) float64 { return s.Seconds })}},
		{"cpu.svg", plot.Plot{Title: "Processor time of all controllers", X: "shoots", Y: "seconds", Lines: lines(all,
			[]string{stepCreate, stepReconcile, stepIdle, stepRestart, stepDelete}, func(_ scaleResult, s stepResult) float64 { return s.cpu() })}},
		{"memory.svg", plot.Plot{Title: "Anonymous memory of all controllers", X: "shoots", Y: "MB", Lines: append(lines(all,
			[]string{stepEmpty, stepCreate, stepReconcile, stepIdle, stepRestart}, func(_ scaleResult, s stepResult) float64 { return s.anonymous() }), limits...)}},
		{"requests.svg", plot.Plot{Title: "Requests to the API server per shoot", X: "shoots", Y: "requests per shoot", Lines: lines(all,
			[]string{stepCreate, stepReconcile, stepDelete}, func(r scaleResult, s stepResult) float64 { return float64(s.requests()) / float64(r.Shoots) })}},
		{"calls.svg", plot.Plot{Title: "Calls of the cloud per shoot", X: "shoots", Y: "calls per shoot", Lines: lines(all,
			[]string{stepCreate, stepReconcile, stepDelete}, func(r scaleResult, s stepResult) float64 { return float64(s.calls()) / float64(r.Shoots) })}},
	}
}

// lines draws a line for each step.
func lines(all []scaleResult, steps []string, of func(scaleResult, stepResult) float64) []plot.Line {
	var drawn []plot.Line
	for _, step := range steps {
		line := plot.Line{Name: step}
		for _, result := range all {
			line.Points = append(line.Points, plot.Point{X: float64(result.Shoots), Y: of(result, result.step(step))})
		}
		drawn = append(drawn, line)
	}
	return drawn
}

// flat draws a value that was not measured here.
func flat(name string, all []scaleResult, value float64) plot.Line {
	line := plot.Line{Name: fmt.Sprintf("%s, %.0f MB", name, value), Dashed: true}
	for _, result := range all {
		line.Points = append(line.Points, plot.Point{X: float64(result.Shoots), Y: value})
	}
	return line
}
