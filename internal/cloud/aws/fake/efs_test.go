package fake_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/sigv4"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// efsReference is the source of a behaviour that AWS' API reference of EFS states at the action.
func efsReference(action string) string {
	return "https://docs.aws.amazon.com/efs/latest/ug/API_" + action + ".html"
}

// efsResponse is a response of EFS.
type efsResponse struct {
	status int
	code   string
	body   map[string]any
}

// list returns a member of each element of a list in the response.
func (r efsResponse) list(name, member string) []any {
	out := []any{}
	items, _ := r.body[name].([]any)
	for _, item := range items {
		out = append(out, item.(map[string]any)[member])
	}
	return out
}

// sendEFS sends a signed request to EFS, whose paths begin with its version.
func (a *account) sendEFS(method, path, body string) (efsResponse, error) {
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.URL()+"/2015-02-01"+path, strings.NewReader(body))
	require.NoError(a.t, err)
	r.Header.Set("Content-Type", "application/json")
	if a.key.KeyID != "" {
		a.key.Sign(r, []byte(body), "elasticfilesystem", a.region, a.now())
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return efsResponse{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(answer.Body)
	require.NoError(a.t, err)
	out := efsResponse{status: answer.StatusCode, code: answer.Header.Get("X-Amzn-ErrorType")}
	if len(content) > 0 {
		require.NoError(a.t, json.Unmarshal(content, &out.body), string(content))
	}
	return out, nil
}

func (a *account) efs(method, path, body string) efsResponse {
	a.t.Helper()
	out, err := a.sendEFS(method, path, body)
	require.NoError(a.t, err)
	require.Less(a.t, out.status, 300, "%s %s: %v", method, path, out.body)
	return out
}

// failsEFS makes a call that must fail with the code, and returns the response.
func (a *account) failsEFS(code, method, path, body string) efsResponse {
	a.t.Helper()
	out, err := a.sendEFS(method, path, body)
	require.NoError(a.t, err)
	require.Equal(a.t, code, out.code, "%s %s: %v", method, path, out.body)
	require.GreaterOrEqual(a.t, out.status, 400)
	return out
}

func (a *account) fileSystem(token string) string {
	a.t.Helper()
	return a.efs(http.MethodPost, "/file-systems", `{"CreationToken": "`+token+`", "Encrypted": true, "Tags": [{"Key": "Name", "Value": "one"}]}`).body["FileSystemId"].(string)
}

func (a *account) mountTarget(system, subnet string) efsResponse {
	a.t.Helper()
	return a.efs(http.MethodPost, "/mount-targets", targetOf(system, subnet))
}

func targetOf(system, subnet string) string {
	return `{"FileSystemId": "` + system + `", "SubnetId": "` + subnet + `"}`
}

func TestFileSystems(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"a file system is created, shown and deleted": {
			source: efsReference("CreateFileSystem") + ", DescribeFileSystems, DeleteFileSystem",
			check: func(t *testing.T, a *account) {
				id := a.fileSystem("shoot")
				shown := a.efs(http.MethodGet, "/file-systems?FileSystemId="+id, "").body["FileSystems"].([]any)[0].(map[string]any)
				for _, name := range []string{"CreationTime", "FileSystemArn", "OwnerId", "SizeInBytes"} {
					assert.Contains(t, shown, name)
					delete(shown, name)
				}
				assert.Empty(t, cmp.Diff(map[string]any{
					"CreationToken": "shoot", "Encrypted": true, "FileSystemId": id, "LifeCycleState": "available", "Name": "one", "NumberOfMountTargets": 0.0,
					"PerformanceMode": "generalPurpose", "ThroughputMode": "bursting", "Tags": []any{map[string]any{"Key": "Name", "Value": "one"}},
				}, shown))
				assert.Equal(t, []string{id}, a.Resources())
				assert.Equal(t, http.StatusNoContent, a.efs(http.MethodDelete, "/file-systems/"+id, "").status)
				assert.Equal(t, http.StatusNotFound, a.failsEFS("FileSystemNotFound", http.MethodGet, "/file-systems?FileSystemId="+id, "").status)
				a.failsEFS("FileSystemNotFound", http.MethodDelete, "/file-systems/"+id, "")
			},
		},
		"a creation token that is in use is an error with the file system": {
			source: efsReference("CreateFileSystem"),
			check: func(t *testing.T, a *account) {
				id := a.fileSystem("shoot")
				failure := a.failsEFS("FileSystemAlreadyExists", http.MethodPost, "/file-systems", `{"CreationToken": "shoot"}`)
				assert.Equal(t, http.StatusConflict, failure.status)
				assert.Equal(t, id, failure.body["FileSystemId"])
				assert.Equal(t, "FileSystemAlreadyExists", failure.body["ErrorCode"])
			},
		},
		"file systems are found by their creation token, and come in pages": {
			source: efsReference("DescribeFileSystems"),
			check: func(t *testing.T, a *account) {
				ids := []any{a.fileSystem("a"), a.fileSystem("b"), a.fileSystem("c")}
				assert.Equal(t, ids[1:2], a.efs(http.MethodGet, "/file-systems?CreationToken=b", "").list("FileSystems", "FileSystemId"))
				assert.Empty(t, a.efs(http.MethodGet, "/file-systems?CreationToken=d", "").list("FileSystems", "FileSystemId"))
				first := a.efs(http.MethodGet, "/file-systems?MaxItems=2", "")
				assert.Equal(t, ids[:2], first.list("FileSystems", "FileSystemId"))
				second := a.efs(http.MethodGet, "/file-systems?MaxItems=2&Marker="+first.body["NextMarker"].(string), "")
				assert.Equal(t, ids[2:], second.list("FileSystems", "FileSystemId"))
				assert.Equal(t, first.body["NextMarker"], second.body["Marker"])
				assert.NotContains(t, second.body, "NextMarker")
			},
		},
		"a file system is creating for a time, and deleting for a time": {
			source: efsReference("DescribeFileSystems") + ", the life cycle states",
			options: []fake.Option{
				fake.WithTransition(fake.FileSystemCreate, fake.Transition{Reads: 1}), fake.WithTransition(fake.FileSystemDelete, fake.Transition{Reads: 1}),
			},
			check: func(t *testing.T, a *account) {
				id := a.fileSystem("shoot")
				states := func() []any {
					return a.efs(http.MethodGet, "/file-systems", "").list("FileSystems", "LifeCycleState")
				}
				a.failsEFS("IncorrectFileSystemLifeCycleState", http.MethodPost, "/mount-targets", targetOf(id, "subnet-0123456789abcdef0"))
				assert.Equal(t, []any{"creating"}, states())
				assert.Equal(t, []any{"available"}, states())
				a.efs(http.MethodDelete, "/file-systems/"+id, "")
				assert.Equal(t, []any{"deleting"}, states())
				assert.Empty(t, states())
			},
		},
		"a creation may end in an error": {
			source:  efsReference("DescribeFileSystems") + ", the life cycle states",
			options: []fake.Option{fake.WithTransition(fake.FileSystemCreate, fake.Transition{Fail: true})},
			check: func(t *testing.T, a *account) {
				a.fileSystem("shoot")
				assert.Equal(t, []any{"error"}, a.efs(http.MethodGet, "/file-systems", "").list("FileSystems", "LifeCycleState"))
			},
		},
		"the account has a quota": {
			source:  efsReference("CreateFileSystem"),
			options: []fake.Option{fake.WithQuota(fake.QuotaFileSystems, 1)},
			check: func(_ *testing.T, a *account) {
				a.fileSystem("a")
				a.failsEFS("FileSystemLimitExceeded", http.MethodPost, "/file-systems", `{"CreationToken": "b"}`)
			},
		},
		"tags are added, listed and removed, by ID and by ARN": {
			source: efsReference("TagResource") + ", UntagResource, ListTagsForResource",
			check: func(t *testing.T, a *account) {
				id := a.fileSystem("shoot")
				arn := strings.ReplaceAll("arn:aws:elasticfilesystem:eu-west-1:"+fake.DefaultAccountID+":file-system/"+id, "/", "%2F")
				a.efs(http.MethodPost, "/resource-tags/"+arn, `{"Tags": [{"Key": "a", "Value": "b"}]}`)
				assert.Equal(t, []any{"Name", "a"}, a.efs(http.MethodGet, "/resource-tags/"+id, "").list("Tags", "Key"))
				a.efs(http.MethodDelete, "/resource-tags/"+id+"?tagKeys=Name&tagKeys=x", "")
				assert.Equal(t, []any{"a"}, a.efs(http.MethodGet, "/resource-tags/"+arn, "").list("Tags", "Key"))
				a.failsEFS("BadRequest", http.MethodPost, "/resource-tags/"+id, `{"Tags": [{"Key": "aws:a", "Value": "b"}]}`)
				a.failsEFS("FileSystemNotFound", http.MethodGet, "/resource-tags/fs-01234567", "")
			},
		},
		"a new file system is visible late": {
			source:  judgement,
			options: []fake.Option{fake.WithLag(fake.Lag{Reads: 1})},
			check: func(t *testing.T, a *account) {
				id := a.fileSystem("shoot")
				a.failsEFS("FileSystemNotFound", http.MethodGet, "/file-systems?FileSystemId="+id, "")
				assert.Equal(t, []any{id}, a.efs(http.MethodGet, "/file-systems?FileSystemId="+id, "").list("FileSystems", "FileSystemId"))
			},
		},
	})
}

func TestFileSystemRequests(t *testing.T) {
	const commonErrors = "https://docs.aws.amazon.com/efs/latest/ug/CommonErrors.html"
	testBehaviours(t, map[string]behaviour{
		"EFS has codes of its own for signatures and policies": {
			source: commonErrors + "; InvalidSignatureException is that of other services with JSON",
			check: func(_ *testing.T, a *account) {
				key := a.key
				a.key.Secret = "other"
				a.failsEFS("InvalidSignatureException", http.MethodGet, "/file-systems", "")
				a.key = sigv4.Credentials{KeyID: "AKIATRELLISEXAMPLE02", Secret: "second"}
				a.failsEFS("UnrecognizedClientException", http.MethodGet, "/file-systems", "")
				a.key = sigv4.Credentials{}
				a.failsEFS("MissingAuthenticationTokenException", http.MethodGet, "/file-systems", "")
				a.key = key
				a.SetDenied("elasticfilesystem:DescribeFileSystems")
				a.failsEFS("AccessDeniedException", http.MethodGet, "/file-systems", "")
				a.SetDenied()
				a.SetClockOffset(10 * time.Minute)
				a.failsEFS("InvalidSignatureException", http.MethodGet, "/file-systems", "")
			},
		},
		"a request that does not fit the model is refused": {
			source: commonErrors + " and BadRequest of each action",
			check: func(_ *testing.T, a *account) {
				a.failsEFS("UnknownOperationException", http.MethodGet, "/clouds", "")
				a.failsEFS("BadRequest", http.MethodPost, "/file-systems", `{}`)
				a.failsEFS("NotImplemented", http.MethodPost, "/file-systems", `{"CreationToken": "t", "Backup": true}`)
			},
		},
		"calls are logged by their action": {
			source: "no behaviour of AWS",
			check: func(t *testing.T, a *account) {
				id := a.fileSystem("shoot")
				a.efs(http.MethodGet, "/mount-targets?FileSystemId="+id, "")
				a.efs(http.MethodDelete, "/file-systems/"+id, "")
				var calls []string
				for _, call := range a.Log() {
					calls = append(calls, call.String())
				}
				assert.Equal(t, []string{
					`efs POST CreateFileSystem?CreationToken=shoot&Encrypted=true&Tags=[{"Key": "Name", "Value": "one"}] 201`,
					"efs GET DescribeMountTargets?FileSystemId=" + id + " 200", "efs DELETE DeleteFileSystem?FileSystemId=" + id + " 204",
				}, calls)
				assert.Len(t, a.Log().Where(wire.Call.IsWrite), 2)
			},
		},
		"faults have the form of EFS": {
			source: commonErrors,
			check: func(_ *testing.T, a *account) {
				a.Inject(fake.Throttled(fake.EFS, "Describe*"))
				a.failsEFS("ThrottlingException", http.MethodGet, "/file-systems", "")
				a.efs(http.MethodGet, "/file-systems", "")
			},
		},
		"the operator makes calls without HTTP": {
			source: "no behaviour of AWS",
			check: func(t *testing.T, a *account) {
				id := a.fileSystem("shoot")
				_, err := a.Do(fake.EFS, "TagResource", map[string][]string{"ResourceId": {id}, "Tags.member.1.Key": {"a"}, "Tags.member.1.Value": {"b"}})
				require.NoError(t, err)
				assert.Equal(t, []any{"Name", "a"}, a.efs(http.MethodGet, "/resource-tags/"+id, "").list("Tags", "Key"))
			},
		},
	})
}
