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

// Journal keeps what happened lately in the lives of a process, its requests of interest and its log, as evidence for the
// one who has to find out why a case failed.
type Journal struct {
	mu    sync.Mutex
	lines []string
	// failures are the lines of the log that tell of an error.
	failures []string
}

// journalLines is enough for the passes of one case.
const journalLines = 200

// Logger returns a logger that writes into the journal, without the values that are the same in every line of a case.
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

// Failures returns the lines that the process has logged as errors, oldest first. Where nothing goes wrong there is none: an error that
// the next try makes good again was one all the same.
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

// record writes down a request and what came of it.
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
