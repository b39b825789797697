package accept

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	kubecontrollers "github.com/projectcalico/calico/kube-controllers/pkg/config"
)

// checkKubeControllers lets kube-controllers make its configuration of its environment and of the KubeControllersConfiguration.
func checkKubeControllers(ctx context.Context, rendering Rendering, newer *NewerFeatures) ([]Problem, error) {
	found, exists, err := findWorkload(rendering, "Deployment", "calico-kube-controllers")
	if err != nil || !exists {
		return nil, err
	}
	const name = "calico-kube-controllers"
	spec, problems := found.container(name)
	if len(problems) > 0 {
		return problems, nil
	}
	variables, problems := found.environment(spec)
	if len(problems) > 0 {
		return problems, nil
	}
	controllers, exempted := withoutNewerControllers(variables[kubecontrollers.EnvEnabledControllers], newer)
	for _, controller := range exempted { // what is exempt must be unknown, or it does not belong on the list
		alone := variables.with(map[string]string{kubecontrollers.EnvEnabledControllers: controller})
		switch _, err := runControllers(ctx, rendering, alone); {
		case err == nil:
			problems = append(problems, found.problem(name, kubecontrollers.EnvEnabledControllers, "%s is on the list of what is newer, but %s knows it", controller, version))
		case !isExit(err):
			return nil, err
		}
	}
	variables = variables.with(map[string]string{kubecontrollers.EnvEnabledControllers: strings.Join(controllers, ",")})
	running, err := runControllers(ctx, rendering, variables)
	switch {
	case isExit(err):
		return append(problems, found.problem(name, "env", "%v", err)), nil
	case err != nil:
		return nil, err
	}
	if health, set := variables[kubecontrollers.EnvHealthEnabled]; set && health != fmt.Sprint(running.HealthEnabled) {
		problems = append(problems, found.problem(name, kubecontrollers.EnvHealthEnabled, "%q was written, but it is %v", health, running.HealthEnabled))
	}
	if slices.Contains(controllers, "node") != (running.Controllers.Node != nil) {
		problems = append(problems, found.problem(name, kubecontrollers.EnvEnabledControllers, "the controller of nodes: %v", running.Controllers.Node != nil))
	}
	if running.Controllers.Node != nil && running.Controllers.Node.DeleteNodes {
		problems = append(problems, found.problem(name, "DATASTORE_TYPE", "kube-controllers would delete nodes: it is not kubernetes"))
	}
	return problems, nil
}

func kubeControllersInputs(rendering Rendering) any {
	found, exists, err := findWorkload(rendering, "Deployment", "calico-kube-controllers")
	if err != nil || !exists {
		return nil
	}
	spec, problems := found.container("calico-kube-controllers")
	if len(problems) > 0 {
		return nil
	}
	inputs := found.inputs(spec, "")
	if inputs == nil {
		return nil
	}
	return []any{inputs, rendering.hashes("KubeControllersConfiguration")}
}

// withoutNewerControllers returns the controllers that v3.28.5 must know, and the others.
func withoutNewerControllers(enabled string, newer *NewerFeatures) (known, exempted []string) {
	for controller := range strings.SplitSeq(enabled, ",") {
		if newer.exempts(componentKubeControllers, controller) {
			exempted = append(exempted, controller)
		} else {
			known = append(known, controller)
		}
	}
	return known, exempted
}

func runControllers(ctx context.Context, rendering Rendering, variables environment) (*kubecontrollers.RunConfig, error) {
	server := newFakeAPIServer()
	defer server.close()
	for _, object := range rendering {
		if object.GetKind() == "KubeControllersConfiguration" {
			server.put(path.Join(customPath, "kubecontrollersconfigurations", object.GetName()), object.Object)
		}
	}
	root, err := rootFor(nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(root) }()
	if err := writeClusterAccess(root, server); err != nil {
		return nil, err
	}
	output, _, err := runContainer(ctx, roleKubeControllers, root, variables.with(map[string]string{"KUBECONFIG": "/tmp/kubeconfig"}))
	if err != nil {
		return nil, err
	}
	running := &kubecontrollers.RunConfig{}
	if err := json.Unmarshal([]byte(output), running); err != nil {
		return nil, fmt.Errorf("reading the configuration of kube-controllers: %w", err)
	}
	return running, nil
}
