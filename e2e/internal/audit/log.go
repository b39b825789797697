// Package audit reads an API server's audit log. It must not start programs or depend on a cluster.
package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// serviceAccounts is the prefix of the user names of ServiceAccounts.
const serviceAccounts = "system:serviceaccount:"

// Write is a request of a controller that changes an object.
type Write struct {
	User string
	Time time.Time
	// Verb is create, update, patch, delete or deletecollection.
	Verb string
	// Resource is the plural, with the subresource after a slash, e.g. "infrastructures/status".
	Resource, Namespace, Name string
	// Code is the status code of the response.
	Code int
	// Body is the request's.
	Body json.RawMessage
}

// String describes the write in one line.
func (w Write) String() string {
	return fmt.Sprintf("%s %s %s/%s -> %d %s", w.Verb, w.Resource, w.Namespace, w.Name, w.Code, w.Body)
}

// Log is the path of an API server's audit log, a JSON object (audit.k8s.io/v1 Event) in each line.
type Log string

// Writes returns the writes, and attempted writes, of controllers to objects of the namespace, or of all namespaces if it is empty, in order.
// The API server logs a write right after its response; the writes of a controller are complete once it has ended.
func (l Log) Writes(namespace string) ([]Write, error) {
	var writes []Write
	err := l.eachEvent(func(e event) {
		isRead := slices.Contains([]string{"get", "list", "watch"}, e.Verb)
		isPod := strings.HasPrefix(e.User.Username, serviceAccounts)
		if !isRead && !isPod && (namespace == "" || e.ObjectRef.Namespace == namespace) {
			writes = append(writes, e.write())
		}
	})
	return writes, err
}

// WritesOf returns the writes, and attempted writes, of a user, or of all users if it is empty, in order.
func (l Log) WritesOf(user string) ([]Write, error) {
	var writes []Write
	err := l.eachEvent(func(e event) {
		isRead := slices.Contains([]string{"get", "list", "watch"}, e.Verb)
		if !isRead && (user == "" || e.User.Username == user) {
			writes = append(writes, e.write())
		}
	})
	return writes, err
}

// Request is a controller's request, whether it reads or writes.
type Request struct {
	// Verb, Group and Resource are those of the RBAC rule that permits it. A subresource follows the resource after a slash.
	Verb, Group, Resource string
	// Namespace is empty for all namespaces and for cluster-scoped objects. Name is empty for lists.
	Namespace, Name string
	// Code is the status code of the response.
	Code int
}

// WithoutProgress removes writes of progress from the writes of one reconciliation, since on a busy machine any reconciliation may take longer
// than a second: all writes to the status from the first state Processing to the last one before the end.
func WithoutProgress(writes []Write) []Write {
	reported := false
	return slices.DeleteFunc(slices.Clone(writes), func(write Write) bool {
		var sent struct {
			Status struct {
				LastOperation gardencorev1beta1.LastOperation `json:"lastOperation"`
			} `json:"status"`
		}
		if !strings.HasSuffix(write.Resource, "/status") || json.Unmarshal(write.Body, &sent) != nil {
			return false
		}
		state := sent.Status.LastOperation.State
		reported = reported || state == gardencorev1beta1.LastOperationStateProcessing
		return reported && (state == "" || state == gardencorev1beta1.LastOperationStateProcessing)
	})
}

// UserOf is the user name of a ServiceAccount.
func UserOf(namespace, serviceAccount string) string {
	return serviceAccounts + namespace + ":" + serviceAccount
}

// Requests returns a controller's requests in order, without renewals of Leases. Watches are logged when they end.
func (l Log) Requests(user string) ([]Request, error) {
	var requests []Request
	err := l.eachEvent(func(e event) {
		if e.User.Username == user {
			write := e.write()
			requests = append(requests, Request{
				Verb: write.Verb, Group: e.ObjectRef.APIGroup, Resource: write.Resource,
				Namespace: write.Namespace, Name: write.Name, Code: write.Code,
			})
		}
	})
	return requests, err
}

// Users returns all users with requests, each once.
func (l Log) Users() ([]string, error) {
	known := map[string]bool{}
	err := l.eachEvent(func(e event) { known[e.User.Username] = true })
	return slices.Sorted(maps.Keys(known)), err
}

// Forbidden returns the requests of a user that were forbidden, as "verb resource namespace/name" or "verb path", each once, in the order of
// their first occurrence. The API server logs a request right after its response, and a watch when it ends.
func (l Log) Forbidden(user string) ([]string, error) {
	var refused []string
	err := l.eachEvent(func(e event) {
		if e.User.Username != user || !e.isForbidden() {
			return
		}
		if request := e.request(); !slices.Contains(refused, request) {
			refused = append(refused, request)
		}
	})
	return refused, err
}

// PermanentlyForbidden is Forbidden without what was permitted later, as "verb resource namespace": a program may start before all its roles are
// bound, and an API server learns of new bindings with a delay. The right to watch counts as the right to list; names are ignored.
func (l Log) PermanentlyForbidden(user string) ([]string, error) {
	var refused []string
	err := l.eachEvent(func(e event) {
		if e.User.Username != user || e.ObjectRef.Resource == "" {
			return
		}
		request := strings.Replace(e.Verb, "watch", "list", 1) + " " + e.resource() + " " + e.ObjectRef.Namespace
		at := slices.Index(refused, request)
		switch isForbidden := e.isForbidden(); {
		case isForbidden && at < 0:
			refused = append(refused, request)
		case !isForbidden && at >= 0:
			refused = slices.Delete(refused, at, at+1)
		}
	})
	return refused, err
}

// Used reports whether a user has made a request that a rule with the verb and resource permits; a subresource follows after a slash.
// Watches are logged when they end.
func (l Log) Used(user, verb, group, resource string) (bool, error) {
	requests, err := l.Requests(user)
	return slices.ContainsFunc(requests, func(r Request) bool {
		return r.Verb == verb && r.Group == group && r.Resource == resource
	}), err
}

func (l Log) eachEvent(do func(event)) error {
	content, err := os.ReadFile(string(l))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	for line := range bytes.Lines(content) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // still being written
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("decoding the audit log: %w", err)
		}
		do(e)
	}
	return nil
}

// event has the fields of audit.k8s.io/v1 Event that Write and Request are made of.
type event struct {
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code    int                   `json:"code"`
		Details *metav1.StatusDetails `json:"details"`
	} `json:"responseStatus"`
	RequestObject  json.RawMessage `json:"requestObject"`
	StageTimestamp time.Time       `json:"stageTimestamp"`
}

func (e event) write() Write {
	return Write{
		User: e.User.Username, Time: e.StageTimestamp, Verb: e.Verb,
		Resource: e.resource(), Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
		Code: e.ResponseStatus.Code, Body: e.RequestObject,
	}
}

// isForbidden reports whether the user lacked a right. An API server refuses new objects in a namespace that is being deleted with the same code,
// whatever rights a user has.
func (e event) isForbidden() bool {
	return e.ResponseStatus.Code == http.StatusForbidden && !slices.ContainsFunc(e.causes(), func(cause metav1.StatusCause) bool {
		return cause.Type == corev1.NamespaceTerminatingCause
	})
}

func (e event) causes() []metav1.StatusCause {
	if e.ResponseStatus.Details == nil {
		return nil
	}
	return e.ResponseStatus.Details.Causes
}

// resource is empty for requests without an object, such as /healthz.
func (e event) resource() string {
	return strings.TrimSuffix(e.ObjectRef.Resource+"/"+e.ObjectRef.Subresource, "/")
}

func (e event) request() string {
	if e.ObjectRef.Resource == "" {
		return e.Verb + " " + e.RequestURI
	}
	return fmt.Sprintf("%s %s %s/%s", e.Verb, e.resource(), e.ObjectRef.Namespace, e.ObjectRef.Name)
}
