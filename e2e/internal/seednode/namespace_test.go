//go:build landscape

package seednode

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"k8s.io/client-go/util/cert"
)

const (
	// insideVariable marks the test inside its namespaces, programVariable the program of a pod.
	insideVariable  = "SEEDNODE_TEST_INSIDE"
	programVariable = "SEEDNODE_TEST_PROGRAM"
)

// TestMain runs the tests in namespaces of their own for network, mounts and processes, so that they take no port of this machine and nothing of
// them survives. The same file is the program of the tests' pods.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(programVariable) != "":
		runProgram()
	case os.Getenv(insideVariable) != "":
		os.Exit(m.Run())
	}
	args := []string{"--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child=SIGKILL", "--propagation", "private", "--", "/bin/sh", "-c", `ip link set lo up && exec "$0" "$@"`}
	inside := exec.Command("unshare", append(args, os.Args...)...)
	inside.Env = append(os.Environ(), insideVariable+"=1")
	inside.Stdout, inside.Stderr = os.Stdout, os.Stderr
	if err := inside.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// answer is what the program says about what it sees.
type answer struct {
	Host, User, Written string
	Args, Env           []string
	Files               map[string]string
	PID                 int
}

// runProgram is a server with a probe that succeeds as long as a file says so.
func runProgram() {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		fmt.Println("terminated")
		os.Exit(0)
	}()
	http.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if content, _ := os.ReadFile("/etc/conf/ready"); string(content) != "yes" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	var hangs atomic.Bool
	http.HandleFunc("/hang", func(http.ResponseWriter, *http.Request) { hangs.Store(true) })
	http.HandleFunc("/alive", func(w http.ResponseWriter, _ *http.Request) {
		if hangs.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	http.HandleFunc("/exit/{code}", func(_ http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.PathValue("code"))
		os.Exit(code)
	})
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		a := answer{Args: os.Args, Env: os.Environ(), Files: map[string]string{}, PID: os.Getpid(), User: user()}
		a.Host, _ = os.Hostname()
		for _, path := range []string{"/etc/conf/message", "/etc/hosts", "/sub/message", "/shared/init", "/etc/shadow"} {
			content, _ := os.ReadFile(path)
			a.Files[path] = string(content)
		}
		for _, path := range []string{"/x", "/etc/conf/x", "/shared/x"} {
			if os.WriteFile(path, nil, 0o600) == nil {
				a.Written += path
			}
		}
		_ = json.NewEncoder(w).Encode(a)
	})
	fmt.Println("started", os.Args[1:])
	if os.Args[1] == "init" {
		if err := os.WriteFile("/shared/init", []byte("done"), 0o600); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Args[1] == ":8080" {
		go func() { fmt.Println(serveTLS(":8443")) }()
	}
	fmt.Println(http.ListenAndServe(os.Args[1], nil))
	os.Exit(1)
}

func serveTLS(address string) error {
	certificate, key, err := cert.GenerateSelfSignedCertKey("api.example.org", nil, nil)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: address, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}}}
	return server.ListenAndServeTLS("", "")
}

// user returns what the API server says to the pod's ServiceAccount, which it forbids something.
func user() string {
	const path = "/var/run/secrets/kubernetes.io/serviceaccount/token"
	token, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	request, _ := http.NewRequest(http.MethodGet, "https://"+os.Getenv("KUBERNETES_SERVICE_HOST")+"/api/v1/nodes", nil)
	request.Header.Set("Authorization", "Bearer "+string(token))
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	content, _ := io.ReadAll(response.Body)
	return strings.TrimSpace(string(content))
}
