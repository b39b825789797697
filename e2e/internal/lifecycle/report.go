package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/checks"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/standin"
	"github.com/trellis-garden/trellis/e2e/internal/timeline"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Outcome is the result of a step.
type Outcome string

// The outcomes.
const (
	Passed Outcome = "passed"
	// Failed steps did not come to their end, or a check found something wrong after them.
	Failed Outcome = "failed"
	NotRun Outcome = "not run"
)

// StepResult is the result of a step.
type StepResult struct {
	Name     string  `json:"name"`
	Sentence string  `json:"sentence"`
	Outcome  Outcome `json:"outcome"`
	// Reason says why a step was not run.
	Reason string `json:"reason,omitempty"`
	// From and To are its begin and end, Checked is when all conditions were True.
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Checked time.Time `json:"checked"`
	// Ours is the time in which one of our controllers was at work, in seconds.
	Ours float64 `json:"oursSeconds"`
	// Wait is what gardenlet waited for longest, and WaitSeconds how long.
	Wait        string  `json:"longestWait,omitempty"`
	WaitSeconds float64 `json:"longestWaitSeconds,omitempty"`
	// Problems are what checks found, and why the step failed.
	Problems []string `json:"problems,omitempty"`
	// Calls counts the calls to the cloud by program.
	Calls map[string]int `json:"calls,omitempty"`

	shoot  string // the name of the step's Shoot
	beside bool   // it ran beside others
}

// Report is the result of a run.
type Report struct {
	Title    string              `json:"title"`
	Cloud    string              `json:"cloud"`
	Started  time.Time           `json:"started"`
	Ended    time.Time           `json:"ended"`
	Steps    []StepResult        `json:"steps"`
	StandIns []standin.StandIn   `json:"standIns"`
	Expected []checks.Expected   `json:"expectedErrors"`
	Left     map[string][]string `json:"left,omitempty"` // by place, once the Shoots are deleted

	isOurs func(timeline.Span) bool
}

// Err names all that failed.
func (r Report) Err() error {
	var failures []error
	for _, step := range r.Steps {
		for _, problem := range step.Problems {
			failures = append(failures, fmt.Errorf("step %s: %s", step.Name, problem))
		}
	}
	return errors.Join(failures...)
}

// runSteps runs steps until one fails. Problems that checks find do not end the run.
func (r *run) runSteps(ctx context.Context, steps []Step) Report {
	report := Report{Title: "One Shoot's life", Cloud: r.Cloud.Name(), Started: r.now(), Expected: alwaysExpected(), isOurs: r.isOurs}
	report.Steps = make([]StepResult, len(steps))
	for i, step := range steps {
		report.Expected = append(report.Expected, step.expected...)
		result := &report.Steps[i]
		*result = StepResult{Name: step.Name, Sentence: step.Sentence, Outcome: NotRun, shoot: step.shootName()}
		if step.alone {
			r.endBeside(ctx)
		}
		result.Reason = reasonAfter(report.Steps[:i])
		if result.Reason == "" && step.skip != nil {
			result.Reason = step.skip(r)
		}
		switch {
		case result.Reason != "":
			r.linef("- %s: not run: %s", step.Name, result.Reason)
		case r.canRunBeside(step):
			r.startBeside(ctx, step, result)
		default:
			r.linef("- %s: %s", step.Name, step.Sentence)
			r.finish(ctx, step, result, r.do(ctx, step, result))
		}
		if result.isLast() {
			r.interruptBeside("step " + step.Name + " failed")
		}
	}
	r.endBeside(ctx)
	report.Ended, report.Left = r.now(), r.left
	report.addTimes(r.recorder.Samples())
	return report
}

// isLast reports whether no other step may follow: this one did not come to its end.
func (s *StepResult) isLast() bool { return s.Outcome == Failed && s.Checked.IsZero() }

// reasonAfter says why no step follows, empty if one does.
func reasonAfter(results []StepResult) string {
	for i := range results {
		if results[i].isLast() {
			return "step " + results[i].Name + " failed before it"
		}
	}
	return ""
}

// addCalls counts calls of the step.
func (s *StepResult) addCalls(sorted map[string]wire.Calls) {
	if s.Calls == nil {
		s.Calls = map[string]int{}
	}
	for program, count := range openstack.CountByProgram(sorted) {
		s.Calls[program] += count
	}
}

// do takes a step within its limit.
func (r *run) do(ctx context.Context, step Step, result *StepResult) error {
	result.From = r.now()
	defer func() { result.To = r.now() }()
	ctx, cancel := context.WithTimeoutCause(ctx, step.limit, fmt.Errorf("it took longer than %s", step.limit))
	defer cancel()
	return step.do(ctx, r)
}

// finish checks a step that has ended.
func (r *run) finish(ctx context.Context, step Step, result *StepResult, err error) {
	if err != nil {
		result.Outcome, result.Problems = Failed, []string{err.Error()}
	} else {
		result.Problems = r.check(ctx, step, result)
		result.Outcome = Passed
		if len(result.Problems) > 0 {
			result.Outcome = Failed
		}
	}
	r.linef("  %s: %s after %.0f s", step.Name, result.Outcome, result.To.Sub(result.From).Seconds())
	for _, problem := range result.Problems {
		r.linef("    %s", problem)
	}
}

// addTimes adds what the recorded objects did meanwhile.
func (r Report) addTimes(samples []timeline.Sample) {
	spans, waits := timeline.Spans(samples, r.Ended), timeline.Waits(samples, r.Ended)
	for i := range r.Steps {
		step := &r.Steps[i]
		if step.From.IsZero() {
			continue
		}
		step.Ours = timeline.Busy(spans, step.From, step.To, func(span timeline.Span) bool {
			return r.isOurs(span) && span.Namespace == technicalID(step.shoot)
		}).Seconds()
		wait, lasted := timeline.LongestWait(waits, step.shoot, step.From, step.To)
		step.Wait, step.WaitSeconds = wait, lasted.Seconds()
	}
}

// tables are those of the report.
func (r Report) tables() []timeline.Table {
	steps := [][]string{{"step", "outcome", "time", "ours", "share", "conditions after", "gardenlet waited longest until"}}
	for _, s := range r.Steps {
		if s.From.IsZero() {
			steps = append(steps, []string{s.Name, string(s.Outcome), "", "", "", "", s.Reason})
			continue
		}
		steps = append(steps, s.row())
	}
	tables := []timeline.Table{{Title: "Steps", Rows: steps}}
	if problems := r.problems(); len(problems) > 1 {
		tables = append(tables, timeline.Table{Title: "What failed", Rows: problems})
	}
	if r.Left != nil {
		rows := [][]string{{"inventory", "what is left"}}
		for _, where := range slices.Sorted(maps.Keys(r.Left)) {
			left := "nothing"
			if len(r.Left[where]) > 0 {
				left = strings.Join(r.Left[where], "\n")
			}
			rows = append(rows, []string{where, left})
		}
		tables = append(tables, timeline.Table{Title: "Inventories after the deletion", Rows: rows})
	}
	calls := [][]string{{"step", "calls to the cloud"}}
	for _, s := range r.Steps {
		var counts []string
		for _, program := range slices.Sorted(maps.Keys(s.Calls)) {
			counts = append(counts, fmt.Sprintf("%s %d", program, s.Calls[program]))
		}
		if len(counts) > 0 {
			calls = append(calls, []string{s.Name, strings.Join(counts, ", ")})
		}
	}
	standIns := [][]string{{"stand-in", "reason"}}
	for _, s := range r.StandIns {
		standIns = append(standIns, []string{s.Name, s.Reason})
	}
	expected := [][]string{{"expected error", "reason"}}
	for _, e := range r.Expected {
		expected = append(expected, []string{e.Text, e.Reason})
	}
	return append(tables, timeline.Table{Title: "Calls", Rows: calls}, timeline.Table{Title: "What is not real", Rows: standIns},
		timeline.Table{Title: "Errors that are no fault", Rows: expected})
}

func (s *StepResult) row() []string {
	whole := s.To.Sub(s.From).Seconds()
	share, conditions, wait := "", "", ""
	if whole > 0 {
		share = fmt.Sprintf("%.0f %%", 100*s.Ours/whole)
	}
	if !s.Checked.IsZero() {
		conditions = fmt.Sprintf("%.0f s", s.Checked.Sub(s.To).Seconds())
	}
	if s.Wait != "" {
		wait = fmt.Sprintf("%s (%.0f s)", s.Wait, s.WaitSeconds)
	}
	name := s.Name
	if s.beside {
		name += " (beside others)"
	}
	return []string{name, string(s.Outcome), fmt.Sprintf("%.0f s", whole), fmt.Sprintf("%.0f s", s.Ours), share, conditions, wait}
}

func (r Report) problems() [][]string {
	rows := [][]string{{"step", "problem"}}
	for _, step := range r.Steps {
		for _, problem := range step.Problems {
			rows = append(rows, []string{step.Name, problem})
		}
	}
	return rows
}

// lines are the report as text.
func (r Report) lines() []string {
	lines := []string{"", fmt.Sprintf("%s in the cloud %q, %s", r.Title, r.Cloud, r.Ended.Sub(r.Started).Round(time.Second))}
	for _, table := range r.tables() {
		lines = append(append(lines, "", table.Title, ""), table.Lines()...)
	}
	return lines
}

// picture is the timeline of the steps that were run.
func (r Report) picture(samples []timeline.Sample) timeline.Picture {
	picture := timeline.Picture{Title: r.Title + ", cloud " + r.Cloud, IsOurs: r.isOurs}
	for _, step := range r.Steps {
		if !step.From.IsZero() && !step.beside { // the row of its Shoot shows one that is
			picture.Steps = append(picture.Steps, timeline.Step{Name: step.Name, From: step.From, To: step.To, Failed: step.Outcome == Failed})
		}
	}
	picture.Spans = append(timeline.Spans(samples, r.Ended), timeline.Waits(samples, r.Ended)...)
	return picture
}

// write writes the files of a run.
func (r Report) write(dir string, samples []timeline.Sample) error {
	encoded, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	files := map[string]string{reportJSON: string(encoded) + "\n", reportText: strings.Join(r.lines(), "\n") + "\n"}
	if picture := r.picture(samples); len(picture.Steps) > 0 {
		svg, err := picture.SVG()
		if err != nil {
			return err
		}
		files[timelineSVG], files[timelinePage] = svg, timeline.Page(picture.Title, r.tables(), svg)
	}
	var failures []error
	for name, content := range files {
		failures = append(failures, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return errors.Join(failures...)
}
