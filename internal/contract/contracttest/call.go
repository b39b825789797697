package contracttest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Target is a service that a process under test calls.
type Target string

const (
	// KubeAPI is the Kubernetes API server. Its tracked calls are the writes, except those of Leases and Events.
	KubeAPI Target = "kube"
	// Cloud is the cloud; every call is tracked.
	Cloud Target = "cloud"
)

// Call is a tracked request, named so that the same request of another run has the same name: identifiers, checksums in
// names and the namespace are replaced, of a query only the keys are kept, the name of a new object and a new state of the
// last operation are added, and equal requests are numbered in order. A number over all requests
// would differ between runs, since a process makes many of them at the same time.
type Call struct {
	Target Target
	Method string
	Path   string
	// Nth is 1 for the first request of this name.
	Nth int
}

// String returns for example "cloud POST /v2.0/networks" or "kube PATCH /infrastructures/one/status (3)".
func (c Call) String() string {
	if c.Nth > 1 {
		return fmt.Sprintf("%s %s %s (%d)", c.Target, c.Method, c.Path, c.Nth)
	}
	return fmt.Sprintf("%s %s %s", c.Target, c.Method, c.Path)
}

// IsWrite reports whether the request may change something. Of a request that names its action, the action says so.
func (c Call) IsWrite() bool {
	if c.Method == http.MethodGet || c.Method == http.MethodHead {
		return false
	}
	action := strings.TrimPrefix(c.Path, actionPrefix)
	return action == c.Path || !strings.HasPrefix(action, "Describe") && !strings.HasPrefix(action, "Get") && !strings.HasPrefix(action, "List")
}

// actionPrefix precedes the action in the path of a Call.
const actionPrefix = "/?Action="

// isProgressWrite reports whether the request writes a status without a new state of the last operation. Controllers report progress and
// save state in this way; their number depends on the duration of an operation.
func (c Call) isProgressWrite() bool {
	return c.Target == KubeAPI && c.Method == http.MethodPatch && strings.HasSuffix(c.Path, "/status")
}

// callOf returns the name of a request with the given body, without its number.
func callOf(target Target, request *http.Request, body []byte) Call {
	path := identifiers.ReplaceAllString(request.URL.Path, "{id}") + keysOf(request.URL.Query())
	if action := actionIn(request, body); target == Cloud && action != "" {
		path = actionPrefix + action
	}
	if target == KubeAPI {
		path = withoutChecksum(withoutNamespace(path)) + newObject(request.Method, body) + newState(body)
	}
	return Call{Target: target, Method: request.Method, Path: path}
}

// actionIn returns the action in the form of a request, and the name that it gives to a resource: AWS has the same method and path for all requests.
func actionIn(request *http.Request, body []byte) string {
	if request.Method != http.MethodPost || !strings.HasPrefix(request.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return ""
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("Action") == "" {
		return ""
	}
	for key, values := range form {
		if strings.HasPrefix(key, "TagSpecification.1.Tag.") && values[0] == "Name" {
			return form.Get("Action") + " " + form.Get(strings.TrimSuffix(key, "Key")+"Value")
		}
	}
	return form.Get("Action")
}

func withoutNamespace(path string) string {
	_, inNamespace, found := strings.Cut(path, "/namespaces/")
	if _, resource, ok := strings.Cut(inNamespace, "/"); found && ok {
		return "/" + resource
	}
	return path
}

// withoutChecksum replaces the suffix that Gardener appends to the names of immutable objects: eight characters of a checksum of their
// content, and five more after a rotation.
func withoutChecksum(path string) string { return checksums.ReplaceAllString(path, "-{sum}$1") }

var checksums = regexp.MustCompile(`-[0-9a-f]{8}(?:-[0-9a-f]{5})?([/?]|$)`)

// newObject returns the name of an object to be created.
func newObject(method string, body []byte) string {
	if method != http.MethodPost {
		return ""
	}
	if name := nameIn(body); name != "" {
		return "/" + withoutChecksum(name)
	}
	return ""
}

// nameIn returns the name of an object in either encoding of clients.
func nameIn(body []byte) string {
	var object metav1.PartialObjectMetadata
	encoded, isProtobuf := bytes.CutPrefix(body, []byte{'k', '8', 's', 0})
	if !isProtobuf {
		if json.Unmarshal(body, &object) != nil {
			return ""
		}
		return object.Name
	}
	var envelope runtime.Unknown
	// In every kind, the metadata is the first field; the others are skipped.
	if envelope.Unmarshal(encoded) != nil || object.Unmarshal(envelope.Raw) != nil {
		return ""
	}
	return object.Name
}

// newState distinguishes the start and the end of an operation from writes in between, whose number may vary.
func newState(body []byte) string {
	var patch struct {
		Status struct {
			LastOperation struct {
				State string `json:"state"`
			} `json:"lastOperation"`
		} `json:"status"`
	}
	if json.Unmarshal(body, &patch) != nil || patch.Status.LastOperation.State == "" {
		return ""
	}
	return " to " + patch.Status.LastOperation.State
}

func keysOf(query url.Values) string {
	if len(query) == 0 {
		return ""
	}
	return "?" + strings.Join(slices.Sorted(maps.Keys(query)), "&")
}

// identifiers are UUIDs, with and without dashes, and IDs of AWS.
var identifiers = regexp.MustCompile(`[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|\b[a-z]+-[0-9a-f]{17}\b`)

// isTracked omits requests whose failure has no consequence: reads of the API server, and writes on which nothing depends.
func isTracked(target Target, request *http.Request) bool {
	if target == Cloud {
		return true
	}
	if request.Method == http.MethodGet {
		return false
	}
	resource := strings.Split(strings.TrimSuffix(request.URL.Path, "/"), "/")
	return !slices.Contains(resource, "events") && !slices.Contains(resource, "leases")
}

func compareCalls(a, b Call) int {
	return cmp.Or(
		cmp.Compare(a.Target, b.Target), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Nth, b.Nth),
	)
}

// WithoutProgress removes writes of progress from the names of writes, without numbers. A reconciliation that takes longer than a second
// makes some, and on a busy machine any reconciliation may. Between its first report of progress and its end, other writes of the
// status have the same names; before the report and without one, nothing is removed.
func WithoutProgress(writes []string) []string {
	reported := false
	var remaining []string
	for _, write := range writes {
		object, state, changes := strings.Cut(write, "/status to ")
		switch {
		case state == "Processing":
			reported = true
		case reported && changes:
			// A reconciliation ends with a write of the status alone, unless it was reported as Processing.
			reported = false
			remaining = append(remaining, object+"/status")
		case reported && strings.HasSuffix(write, "/status"):
		default:
			remaining = append(remaining, write)
		}
	}
	return remaining
}

// WritesTo returns the names of calls that change a target, without their numbers.
func WritesTo(target Target, calls []Call) []string {
	var writes []string
	for _, call := range calls {
		if call.Target == target && call.IsWrite() {
			writes = append(writes, call.Method+" "+call.Path)
		}
	}
	return writes
}
