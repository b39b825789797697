package contracttest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// Journal keeps the latest tracked requests and log lines of a process, as evidence of a failed
// case.
type Journal struct {
	mu    sync.Mutex
	lines []string
	// failures are the log lines with errors.
	failures []string
}

// journalLines is enough for the reconciliations of one case.
const journalLines = 200

// Logger returns a logger that writes into the journal, without the values that are the same in all lines of a case.
func (j *Journal) Logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		j.add("log " + prefix + " " + args)
		if !strings.HasPrefix(args, `"level"=`) { // which an error has not
			j.mu.Lock()
			defer j.mu.Unlock()
			j.failures = append(j.failures, prefix+" "+args)
		}
	}, funcr.Options{RenderValuesHook: func([]any) []any { return nil }})
}

// Failures returns the lines that the process has logged as errors, oldest first. Without a fault there must be none, not even errors
// that a retry resolves.
func (j *Journal) Failures() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.failures)
}

// String returns the lines, oldest first.
func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return "    " + strings.Join(j.lines, "\n    ") + "\n"
}

func (j *Journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, time.Now().Format("15:04:05.000 ")+line)
	if len(j.lines) > journalLines {
		j.lines = slices.Delete(j.lines, 0, 1)
	}
}

// record adds a request with its result.
func (j *Journal) record(target Target, request *http.Request, fault *Fault, result roundTripResult) {
	outcome := "no answer"
	switch {
	case result.err != nil:
		outcome = result.err.Error()
	case result.response != nil:
		outcome = result.response.Status
	}
	if fault != nil {
		outcome = fmt.Sprintf("%s <- FAULT: %s %s", outcome, fault.Type, fault.Error)
	}
	j.add(fmt.Sprintf("%s %s %s: %s", target, request.Method, request.URL.RequestURI(), outcome))
}
