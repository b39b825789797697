package accept

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/projectcalico/calico/cni-plugin/pkg/install"
	"github.com/projectcalico/calico/cni-plugin/pkg/ipamplugin"
	"github.com/projectcalico/calico/cni-plugin/pkg/plugin"
	kubecontrollers "github.com/projectcalico/calico/kube-controllers/pkg/config"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"github.com/projectcalico/calico/node/pkg/lifecycle/startup"
	"github.com/projectcalico/calico/node/pkg/lifecycle/startup/autodetection"
	corev1 "k8s.io/api/core/v1"
)

// version is what Calico's code here says that it is.
const version = "v3.28.5"

// What the process is to be instead of a test, and where its root is.
const (
	roleVariable = "TRELLIS_CALICO_ROLE"
	rootVariable = "TRELLIS_CALICO_ROOT"
)

const (
	roleInstall         = "install"
	roleStartup         = "startup"
	roleDetection       = "detection"
	roleKubeControllers = "kube-controllers"
)

// Main must be called by the test binary before anything else: the binary is also Calico's processes, and the CNI plugins.
// It returns when the process is a test.
func Main() {
	if role := os.Getenv(roleVariable); role != "" {
		if err := runRole(role, os.Getenv(rootVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	name := filepath.Base(os.Args[0])
	if record := os.Getenv(recordVariable); record != "" && (name == ipamCalico || name == ipamHostLocal) {
		os.Exit(recordIPAM(name, record))
	}
	switch name {
	case "calico":
		plugin.Main(version)
	case ipamCalico:
		ipamplugin.Main(version)
	case ipamHostLocal:
		hostLocal()
	default:
		return
	}
	os.Exit(0)
}

// runRole is what happens in the process of a container: root becomes its file system.
func runRole(role, root string) error {
	if root != "" {
		if err := syscall.Chroot(root); err != nil {
			return fmt.Errorf("changing the root: %w", err)
		}
		if err := os.Chdir("/"); err != nil {
			return err
		}
	}
	switch role {
	case roleInstall:
		return install.Install(version)
	case roleStartup:
		startup.VERSION = version
		startup.Run()
		return nil
	case roleDetection:
		return detect()
	case roleKubeControllers:
		return runKubeControllersConfig()
	default:
		return fmt.Errorf("unknown role %q", role)
	}
}

// detect ends the process, as calico-node does, when a method is unknown. That no address is found is not the method's fault.
func detect() error {
	autodetection.AutoDetectCIDR(os.Getenv("METHOD"), 4, &corev1.Node{}, func([]string, []string, int) ([]autodetection.Interface, error) {
		return nil, nil
	})
	return nil
}

// runKubeControllersConfig prints what kube-controllers would run with.
func runKubeControllersConfig() error {
	var config kubecontrollers.Config
	if err := config.Parse(); err != nil {
		return err
	}
	client, err := clientv3.NewFromEnv()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	select {
	case running := <-kubecontrollers.NewRunConfigController(ctx, config, client.KubeControllersConfiguration()).ConfigChan():
		return json.NewEncoder(os.Stdout).Encode(running)
	case <-ctx.Done():
		return errors.New("kube-controllers found no configuration to run with")
	}
}

// runContainer starts the test binary in a role, with an environment and a file system of its own. It returns what the process
// printed; the error has the end of its log.
func runContainer(ctx context.Context, role, root string, variables environment) (output, log string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return "", "", err
	}
	command := exec.CommandContext(ctx, self)
	command.Env = append(variables.list(), roleVariable+"="+role, rootVariable+"="+root)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if os.Geteuid() != 0 {
		command.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
	}
	if err := command.Run(); err != nil {
		if isExit(err) {
			return stdout.String(), stderr.String(), fmt.Errorf("%s: %w: %s", role, err, lastLines(stdout.String()+stderr.String()))
		}
		return "", "", fmt.Errorf("starting %s (this takes root, or user namespaces for everyone): %w", role, err)
	}
	return stdout.String(), stderr.String(), nil
}

// lastLines are the complaints of a log, or its end.
func lastLines(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	var problems []string
	for _, line := range lines {
		if strings.Contains(line, "level=error") || strings.Contains(line, "level=fatal") || strings.Contains(line, "[ERROR]") ||
			strings.Contains(line, "[FATAL]") || strings.Contains(line, "level=warning") || strings.Contains(line, "[WARNING]") {
			problems = append(problems, line)
		}
	}
	if len(problems) == 0 {
		problems = lines
	}
	problems = problems[max(0, len(problems)-4):]
	if end := lines[len(lines)-1]; !slices.Contains(problems, end) { // messages may have several lines
		problems = append(problems, end)
	}
	return strings.Join(problems, " | ")
}

// isExit tells a process that refused from one that could not be started.
func isExit(err error) bool {
	_, exited := errors.AsType[*exec.ExitError](err)
	return exited
}

// rootFor makes a file system with the folders that a container mounts.
func rootFor(mounts []corev1.VolumeMount) (string, error) {
	root, err := os.MkdirTemp("", "calico-root-")
	if err != nil {
		return "", err
	}
	for _, mount := range mounts {
		if err := os.MkdirAll(filepath.Join(root, mount.MountPath), 0o755); err != nil {
			return "", err
		}
	}
	return root, os.MkdirAll(filepath.Join(root, "tmp"), 0o755)
}

// kubeconfig writes a file that leads to the API server.
func kubeconfig(path, server string) error {
	config := map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "test",
		"clusters": []any{map[string]any{"name": "test", "cluster": map[string]any{"server": server}}},
		"contexts": []any{map[string]any{"name": "test", "context": map[string]any{"cluster": "test", "user": "test"}}},
		"users":    []any{map[string]any{"name": "test", "user": map[string]any{}}},
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o600)
}
