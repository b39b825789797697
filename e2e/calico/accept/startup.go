package accept

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// checkStartup lets each container that starts a node do so, as the process of v3.28.5, in a cluster that has the pools. It must not make
// pools of its own, and must leave the node as nodes with this kind of networking are.
func checkStartup(ctx context.Context, rendering Rendering, _ *NewerFeatures) ([]Problem, error) {
	found, exists, err := findWorkload(rendering, "DaemonSet", "calico-node")
	if err != nil || !exists {
		return nil, err
	}
	var problems []Problem
	for _, container := range startupContainers(found) {
		variables, unresolved := found.environment(container)
		if len(unresolved) > 0 {
			return unresolved, nil
		}
		more, err := startNode(ctx, found, container, variables)
		if err != nil {
			return nil, err
		}
		problems = append(problems, more...)
	}
	return problems, nil
}

// startupContainers are the containers that start a node. -complete-startup, which is newer, is something else: it only sets the condition.
func startupContainers(found workload) []corev1.Container {
	starts := regexp.MustCompile(`calico-node\s+-startup\b`)
	return slices.DeleteFunc(slices.Clone(found.pod.Containers), func(container corev1.Container) bool {
		command := strings.Join(slices.Concat(container.Command, container.Args), " ")
		return container.Name != "calico-node" && !starts.MatchString(command)
	})
}

// startupInputs leaves out Felix' parameters, which do not matter at the start.
func startupInputs(rendering Rendering) any {
	found, exists, err := findWorkload(rendering, "DaemonSet", "calico-node")
	if err != nil || !exists {
		return nil
	}
	var all []any
	for _, container := range startupContainers(found) {
		inputs := found.inputs(container, "FELIX_")
		if inputs == nil {
			return nil
		}
		all = append(all, inputs)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

func startNode(ctx context.Context, found workload, spec corev1.Container, variables environment) ([]Problem, error) {
	server, _, err := newCluster(found.rendering)
	if err != nil {
		return nil, err
	}
	defer server.close()
	pools := poolNames(server)
	root, err := rootFor(spec.VolumeMounts)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(root) }()
	problems, err := checkDetection(ctx, found, spec, variables)
	if err != nil {
		return nil, err
	}
	if err := writeClusterAccess(root, server); err != nil {
		return nil, err
	}
	output, log, err := runContainer(ctx, roleStartup, root, variables.with(hostOverrides(variables)))
	switch {
	case isExit(err):
		return append(problems, found.problem(spec.Name, "calico-node -startup", "%v", err)), nil
	case err != nil:
		return nil, err
	}
	for line := range strings.Lines(output + log) {
		if strings.Contains(line, "to be mounted into the container") && spec.Name == "calico-node" {
			problems = append(problems, found.problem(spec.Name, "volumeMounts", "%s", strings.TrimSpace(line)))
		}
	}
	if made := poolNames(server); made != pools {
		problems = append(problems, found.problem(spec.Name, "calico-node -startup", "pools were %s and are %s", pools, made))
	}
	return append(problems, checkNode(found, spec, variables, server)...), nil
}

// writeClusterAccess gives a container what leads to the API server, and makes it believe in IPv6: Calico makes a pool of it otherwise only
// on machines that have it.
func writeClusterAccess(root string, server *fakeAPIServer) error {
	if err := os.MkdirAll(filepath.Join(root, "proc", "sys", "net", "ipv6"), 0o755); err != nil {
		return err
	}
	return kubeconfig(filepath.Join(root, "tmp", "kubeconfig"), server.server.URL)
}

// hostOverrides are the variables that differ on the machine of the test: which addresses it has is not the rendering's fault.
func hostOverrides(variables environment) map[string]string {
	replaced := map[string]string{"KUBECONFIG": "/tmp/kubeconfig"}
	if variables["IP"] == "autodetect" {
		replaced["IP"] = "192.0.2.10/24"
	}
	if variables["IP6"] == "autodetect" {
		replaced["IP6"] = "2001:db8::10/64"
	}
	return replaced
}

// checkDetection asks the parser of methods, apart from what they find.
func checkDetection(ctx context.Context, found workload, spec corev1.Container, variables environment) ([]Problem, error) {
	var problems []Problem
	for _, variable := range []string{"IP_AUTODETECTION_METHOD", "IP6_AUTODETECTION_METHOD"} {
		method, set := variables[variable]
		if !set {
			continue
		}
		output, log, err := runContainer(ctx, roleDetection, "", environment{"METHOD": method})
		switch {
		case isExit(err):
			problems = append(problems, found.problem(spec.Name, variable, "%v", err))
		case err != nil:
			return nil, err
		}
		for line := range strings.Lines(output + log) {
			if strings.Contains(line, "Invalid CIDR") || strings.Contains(line, "nvalid interface") {
				problems = append(problems, found.problem(spec.Name, variable, "%s", strings.TrimSpace(line)))
			}
		}
	}
	return problems, nil
}

// checkNode compares what is on the Node with what the environment asks for.
func checkNode(found workload, spec corev1.Container, variables environment, server *fakeAPIServer) []Problem {
	networked := variables["CALICO_NETWORKING_BACKEND"] != "none"
	node := server.collection(nodesPath)[0]
	metadata, _ := node["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	want := map[string]bool{
		"projectcalico.org/IPv4Address": networked && variables["IP"] != "none",
		"projectcalico.org/IPv6Address": networked && variables["IP6"] != "" && variables["IP6"] != "none",
	}
	var problems []Problem
	for _, annotation := range []string{"projectcalico.org/IPv4Address", "projectcalico.org/IPv6Address"} {
		if has := annotations[annotation] != nil; has != want[annotation] {
			problems = append(problems, found.problem(spec.Name, "calico-node -startup", "annotation %s of the Node: %v, wanted %v", annotation, has, want[annotation]))
		}
	}
	status, _ := node["status"].(map[string]any)
	if has := strings.Contains(fmt.Sprint(status["conditions"]), "NetworkUnavailable"); has != networked {
		problems = append(problems, found.problem(spec.Name, "CALICO_NETWORKING_BACKEND", "condition NetworkUnavailable of the Node: %v, wanted %v", has, networked))
	}
	return problems
}
