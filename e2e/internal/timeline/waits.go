package timeline

import (
	"strings"
	"time"
)

// waiting is how gardenlet's names of tasks that wait begin.
const waiting = "Waiting until "

// tasksOf returns the tasks that a Shoot's description lists: gardenlet joins the names of all running ones by commas.
func tasksOf(description string) []string {
	var tasks []string
	for task := range strings.SplitSeq(description, ", ") {
		if task = strings.TrimSpace(task); task != "" {
			tasks = append(tasks, task)
		}
	}
	return tasks
}

// Waits returns the times in which gardenlet waited for something, named by what it waited for, for each Shoot.
func Waits(samples []Sample, end time.Time) []Span {
	var tasks []Sample
	running := map[Object]map[string]bool{}
	for _, sample := range samples {
		if sample.Kind != KindShoot {
			continue
		}
		now := map[string]bool{}
		if sample.State.IsBusy() {
			for _, task := range tasksOf(sample.Description) {
				if name, waits := strings.CutPrefix(task, waiting); waits {
					now[name] = true
				}
			}
		}
		for name := range running[sample.Object] {
			if !now[name] {
				tasks = append(tasks, taskSample(sample, name, Settled))
			}
		}
		for name := range now {
			tasks = append(tasks, taskSample(sample, name, Processing))
		}
		running[sample.Object] = now
	}
	return Spans(tasks, end)
}

// taskSample is a sample of a task, which is named like an object: the Shoot is its namespace.
func taskSample(of Sample, name string, state State) Sample {
	return Sample{
		Time: of.Time, State: state, Object: Object{Cluster: of.Cluster, Kind: KindWait, Namespace: of.Name, Name: name},
	}
}

// LongestWait names what gardenlet waited for longest in a time, for a Shoot.
func LongestWait(waits []Span, shoot string, from, to time.Time) (name string, lasted time.Duration) {
	for _, wait := range waits {
		if wait.Namespace != shoot {
			continue
		}
		sum := Busy(waits, from, to, func(s Span) bool { return s.Object == wait.Object })
		if sum > lasted {
			name, lasted = wait.Name, sum
		}
	}
	return name, lasted
}
