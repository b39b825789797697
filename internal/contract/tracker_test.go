package contract_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

func getPage(t *testing.T, url string) (status int, contentType, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, response.Header.Get("Content-Type"), string(content)
}

// Three objects are reconciled at the same time, one of which fails and waits, while two more are queued for three workers.
func TestTracker_Page(t *testing.T) {
	finish := make(chan struct{})
	a := &actuator{reconcile: func(ctx context.Context, rec *reconciliation) error {
		switch rec.Object.Name {
		case "fails":
			return errors.New("the quota is exceeded")
		case "waits":
			graph := contract.NewGraph("reconciling")
			first := graph.Add(contract.Task{Name: "ensuring network", Do: func(context.Context) error { return nil }})
			graph.Add(contract.Task{Name: "ensuring router", After: []contract.TaskID{first}, Do: func(ctx context.Context) error {
				return contract.WaitUntil(ctx, func(context.Context) (string, error) {
					select {
					case <-finish:
						return "", nil
					default:
						return "it has no address yet", nil
					}
				})
			}})
			return rec.StateRecorder.Run(ctx, graph)
		}
		select {
		case <-finish:
		case <-ctx.Done():
		}
		return ctx.Err()
	}}
	s := newEnvironment(t, a)
	tracker := &contract.Tracker{}
	s.options.Tracker, s.options.MaxConcurrentReconciles = tracker, 3
	s.options.Retry = contract.Retry{Base: time.Hour, Max: time.Hour}
	s.run()
	server := httptest.NewServer(tracker)
	defer server.Close()

	deploy := func(name string) {
		other := *s
		other.Gardenlet = contracttest.NewGardenlet(s.server, client.ObjectKey{Namespace: s.namespace, Name: name}, func() *object { return &object{} })
		other.deploy(v1beta1constants.GardenerOperationReconcile)
	}
	deploy("fails")
	read := func() contract.ControllerReport {
		status, contentType, body := getPage(t, server.URL+contract.TrackerPath+"?output=json")
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "application/json", contentType)
		var reports []contract.ControllerReport
		require.NoError(t, json.Unmarshal([]byte(body), &reports))
		require.Len(t, reports, 1)
		return reports[0]
	}
	require.Eventually(t, func() bool { return len(read().Waiting) == 1 }, 20*time.Second, 10*time.Millisecond)
	for _, name := range []string{"waits", "works", "works-too"} {
		deploy(name)
	}
	require.Eventually(t, func() bool { return len(read().Running) == 3 }, 20*time.Second, 10*time.Millisecond)
	deploy("queued")
	deploy("queued-too")
	var report contract.ControllerReport
	require.Eventually(t, func() bool {
		report = read()
		accepted := !slices.ContainsFunc(report.Running, func(object contract.RunningObject) bool { return object.Operation == "" })
		return report.QueueLength == 2 && accepted && waitingTask(report) != ""
	}, 20*time.Second, 10*time.Millisecond)

	assert.Equal(t, "infrastructure", report.Contract)
	for _, object := range report.Running {
		assert.Equal(t, s.namespace, object.Namespace)
		assert.Equal(t, gardencorev1beta1.LastOperationTypeCreate, object.Operation)
		assert.WithinDuration(t, time.Now(), object.Since, time.Minute)
		if object.Name == "waits" {
			assert.Equal(t, 1, object.TasksDone)
			assert.Equal(t, 2, object.TasksPlanned)
			assert.Equal(t, []contract.RunningTask{{Name: "ensuring router", WaitsFor: "it has no address yet"}}, object.Tasks)
		}
	}
	require.Len(t, report.Waiting, 1)
	assert.Equal(t, "fails", report.Waiting[0].Name)
	assert.Equal(t, 1, report.Waiting[0].Failures)
	assert.Equal(t, "the quota is exceeded", report.Waiting[0].LastError)
	assert.WithinDuration(t, time.Now().Add(time.Hour), report.Waiting[0].NextAttempt, time.Minute)

	_, contentType, text := getPage(t, server.URL+contract.TrackerPath)
	assert.Equal(t, "text/plain; charset=utf-8", contentType)
	assert.Contains(t, text, "infrastructure: 3 running, 2 queued, 1 waiting for the next attempt\n")
	assert.Contains(t, text, "ensuring router (it has no address yet)")
	assert.Contains(t, text, "the quota is exceeded")

	close(finish)
	require.Eventually(t, func() bool {
		report = read()
		return len(report.Running) == 0 && report.QueueLength == 0
	}, 20*time.Second, 10*time.Millisecond)
	assert.Len(t, report.Waiting, 1, "those that succeeded are not listed any more")
}

func waitingTask(report contract.ControllerReport) string {
	for _, object := range report.Running {
		for _, task := range object.Tasks {
			if task.WaitsFor != "" {
				return task.Name
			}
		}
	}
	return ""
}

func TestTracker_PageErrors(t *testing.T) {
	server := httptest.NewServer(&contract.Tracker{})
	defer server.Close()
	status, _, body := getPage(t, server.URL+"?output=yaml")
	assert.Equal(t, http.StatusBadRequest, status)
	assert.Equal(t, "output=yaml: no such output; use output=text or output=json\n", body)
	status, _, body = getPage(t, server.URL+"?output=json")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "[]\n", body)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusMethodNotAllowed, response.StatusCode)
	assert.Equal(t, "GET, HEAD", response.Header.Get("Allow"))
}
