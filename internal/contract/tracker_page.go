package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// TrackerPath is where a process serves its Tracker.
const TrackerPath = "/debug/reconciliations"

// Values of the parameter "output" of the Tracker's page.
const (
	outputText = "text"
	outputJSON = "json"
)

// ServeHTTP implements http.Handler. It answers GET with what Report returns: as a text for people, and with ?output=json as a list of
// ControllerReports in JSON.
func (t *Tracker) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, fmt.Sprintf("method %s is not allowed; use GET", request.Method), http.StatusMethodNotAllowed)
		return
	}
	var page bytes.Buffer
	contentType := "text/plain; charset=utf-8"
	switch output := request.URL.Query().Get("output"); output {
	case "", outputText:
		writeReports(&page, t.Report(), time.Now())
	case outputJSON:
		contentType = "application/json"
		encoder := json.NewEncoder(&page)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(t.Report()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	default:
		http.Error(w, fmt.Sprintf("output=%s: no such output; use output=%s or output=%s", truncate.Line(output, truncate.MaxExternal), outputText, outputJSON),
			http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff") // errors quote what others wrote
	_, _ = page.WriteTo(w)
}

// writeReports writes one section for each controller. Writes to a buffer do not fail.
func writeReports(out io.Writer, reports []ControllerReport, now time.Time) {
	for i, report := range reports {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s: %d running, %d queued, %d waiting for the next attempt\n",
			report.Contract, len(report.Running), report.QueueLength, len(report.Waiting))
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		if len(report.Running) > 0 {
			fmt.Fprintln(table, "\nRUNNING\tOPERATION\tFOR\tTASKS\tFAILURES\tTASK")
		}
		for _, object := range report.Running {
			fmt.Fprintf(table, "%s/%s\t%s\t%s\t%d/%d\t%d\t%s\n", object.Namespace, object.Name, orDash(string(object.Operation)),
				now.Sub(object.Since).Round(time.Second), object.TasksDone, object.TasksPlanned, object.Failures, orDash(tasksText(object.Tasks)))
		}
		if len(report.Waiting) > 0 {
			fmt.Fprintln(table, "\nWAITING\tNEXT ATTEMPT\tFAILURES\tLAST ERROR")
		}
		for _, object := range report.Waiting {
			fmt.Fprintf(table, "%s/%s\tin %s\t%d\t%s\n", object.Namespace, object.Name,
				max(object.NextAttempt.Sub(now).Round(time.Second), 0), object.Failures, orDash(truncate.Line(object.LastError, truncate.MaxExternal)))
		}
		_ = table.Flush()
	}
}

func tasksText(tasks []RunningTask) string {
	texts := make([]string, 0, len(tasks))
	for _, task := range tasks {
		text := task.Name
		if task.WaitsFor != "" {
			text += " (" + task.WaitsFor + ")"
		}
		texts = append(texts, truncate.Line(text, truncate.MaxExternal))
	}
	return strings.Join(texts, ", ")
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
