package aws_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// efsResponse is what EFS answers. An error has a code.
type efsResponse struct {
	status     int
	code, body string
}

func efsError(status int, code string) efsResponse {
	return efsResponse{status, code, `{"ErrorCode": "` + code + `", "Message": "No."}`}
}

// newEFSSession returns a session whose requests get the responses in order, the last one for ever, and the requests that were made.
func newEFSSession(t *testing.T, responses ...efsResponse) (session *aws.Session, requests func() []string) {
	t.Helper()
	var mutex sync.Mutex
	var made []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mutex.Lock()
		defer mutex.Unlock()
		next := responses[min(len(made), len(responses)-1)]
		made = append(made, r.Method+" "+r.URL.RequestURI()+" "+string(body))
		w.Header().Set("Content-Type", "application/json")
		if next.code != "" {
			w.Header().Set("X-Amzn-ErrorType", next.code+":http://internal.amazon.com/coral/")
			w.Header().Set("X-Amzn-RequestId", "r-1")
		}
		w.WriteHeader(next.status)
		_, _ = io.WriteString(w, next.body)
	}))
	t.Cleanup(server.Close)
	sessions := aws.NewSessions(aws.Options{
		Endpoint: server.URL, QPS: -1, Retry: transport.RetryPolicy{Attempts: 3, FirstPause: time.Millisecond, LongestPause: 5 * time.Millisecond},
	})
	session, err := sessions.Get(t.Context(), accessKey(), "eu-west-1")
	require.NoError(t, err)
	return session, func() []string {
		mutex.Lock()
		defer mutex.Unlock()
		return made
	}
}

func TestSession_FileSystemErrorKinds(t *testing.T) {
	for code, want := range map[string]cloud.Kind{
		"FileSystemInUse":                   cloud.InUse,
		"FileSystemNotFound":                cloud.NotFound,
		"MountTargetNotFound":               cloud.NotFound,
		"FileSystemAlreadyExists":           cloud.Conflict,
		"MountTargetConflict":               cloud.Conflict,
		"IncorrectFileSystemLifeCycleState": cloud.Conflict,
		"FileSystemLimitExceeded":           cloud.QuotaExceeded,
		"NetworkInterfaceLimitExceeded":     cloud.QuotaExceeded,
		"NoFreeAddressesInSubnet":           cloud.Depleted,
		"BadRequest":                        cloud.Configuration,
		"UnsupportedAvailabilityZone":       cloud.Configuration,
		"InvalidSignatureException":         cloud.Unauthenticated,
		"UnrecognizedClientException":       cloud.Unauthenticated,
		"AccessDeniedException":             cloud.Unauthorized,
		"ThrottlingException":               cloud.RateLimited,
		"ACodeThatNobodyKnowsYet":           cloud.Unknown,
	} {
		t.Run(code, func(t *testing.T) {
			session, _ := newEFSSession(t, efsError(http.StatusConflict, code))
			err := session.DeleteFileSystem(t.Context(), "fs-01234567")
			assert.Equal(t, want, cloud.KindOf(err), "%v", err)
			assert.ErrorContains(t, err, "elasticfilesystem DeleteFileSystem answered "+code+": No. (request r-1)")
		})
	}
}

func TestSession_FileSystemThrottled(t *testing.T) {
	session, requests := newEFSSession(t, efsError(http.StatusBadRequest, "ThrottlingException"), efsResponse{status: http.StatusCreated, body: `{"FileSystemId": "fs-01234567"}`})
	created, err := session.CreateFileSystem(t.Context(), "uid", aws.Tags{"Name": "one"})
	require.NoError(t, err)
	assert.Equal(t, "fs-01234567", created.ID)
	const request = `POST /2015-02-01/file-systems {"CreationToken":"uid","Encrypted":true,"Tags":[{"Key":"Name","Value":"one"}]}`
	assert.Equal(t, []string{request, request}, requests(), "what was throttled with the status of an invalid request is repeated")
}

func TestSession_FileSystemPages(t *testing.T) {
	session, requests := newEFSSession(t,
		efsResponse{status: http.StatusOK, body: `{"MountTargets": [{"MountTargetId": "fsmt-1", "LifeCycleState": "creating"}], "NextMarker": "m"}`},
		efsResponse{status: http.StatusOK, body: `{"MountTargets": [{"MountTargetId": "fsmt-2", "LifeCycleState": "available"}]}`})
	found, err := session.ListMountTargets(t.Context(), "fs-01234567")
	require.NoError(t, err)
	assert.Equal(t, []aws.MountTarget{{ID: "fsmt-1", State: aws.FileCreating}, {ID: "fsmt-2", State: aws.FileAvailable}}, found)
	assert.Equal(t, []string{
		"GET /2015-02-01/mount-targets?FileSystemId=fs-01234567&MaxItems=100 ", "GET /2015-02-01/mount-targets?FileSystemId=fs-01234567&Marker=m&MaxItems=100 ",
	}, requests())
}

func TestSession_MissingFileSystem(t *testing.T) {
	session, _ := newEFSSession(t, efsError(http.StatusNotFound, "FileSystemNotFound"))
	systems, err := session.ListFileSystems(t.Context(), aws.Filter{IDs: []string{"fs-01234567"}})
	require.NoError(t, err)
	assert.Empty(t, systems, "an ID is no error in a list")
	targets, err := session.ListMountTargets(t.Context(), "fs-01234567")
	require.NoError(t, err)
	assert.Empty(t, targets)
}
