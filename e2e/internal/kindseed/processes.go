package kindseed

import (
	"context"
	"fmt"
	"os/exec"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Users lists the user IDs under which a program's processes run on the node of a pod, according to the kernel.
func (env *Env) Users(ctx context.Context, pod corev1.Pod, program string) ([]string, error) {
	output, err := exec.CommandContext(ctx, "docker", "exec", pod.Spec.NodeName, "ps", "-e", "-o", "uid=,args=").Output()
	if err != nil {
		return nil, fmt.Errorf("listing the processes of node %s: %w", pod.Spec.NodeName, err)
	}
	var users []string
	for line := range strings.Lines(string(output)) {
		if fields := strings.Fields(line); len(fields) > 1 && path.Base(fields[1]) == program {
			users = append(users, fields[0])
		}
	}
	return users, nil
}
