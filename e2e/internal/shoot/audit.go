package shoot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// auditPolicy records what ServiceAccounts ask for, without bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`

// Refused returns what a ServiceAccount of kube-system has asked for without having the right, as "verb resource namespace/name",
// each once and in the order in which it was asked for first. The API server records a request right after it has answered.
func (c *Cluster) Refused(serviceAccount string) ([]string, error) {
	content, err := os.ReadFile(c.path(auditLog))
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	var refused []string
	seen := map[string]bool{}
	for line := range bytes.Lines(content) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // still being written
		}
		var event auditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("decoding the audit log: %w", err)
		}
		request := event.request()
		if event.ResponseStatus.Code == http.StatusForbidden && event.User.Username == "system:serviceaccount:kube-system:"+serviceAccount && !seen[request] {
			seen[request] = true
			refused = append(refused, request)
		}
	}
	return refused, nil
}

// auditEvent is the part of audit.k8s.io/v1 Event that tells who asked for what.
type auditEvent struct {
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef *struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

func (e auditEvent) request() string {
	if e.ObjectRef == nil {
		return e.Verb + " " + e.RequestURI
	}
	resource := strings.TrimSuffix(e.ObjectRef.Resource+"/"+e.ObjectRef.Subresource, "/")
	return fmt.Sprintf("%s %s %s/%s", e.Verb, resource, e.ObjectRef.Namespace, e.ObjectRef.Name)
}
