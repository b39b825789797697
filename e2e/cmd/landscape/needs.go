package main

import (
	"fmt"
	"os/exec"

	"github.com/trellis-garden/trellis/e2e/internal/isolation"
	"github.com/trellis-garden/trellis/e2e/internal/stack"
)

// unmetNeeds lists what this machine lacks for a cloud of shoots, one sentence each.
func unmetNeeds(cloud string) []string {
	var needs []string
	if err := isolation.Check(); err != nil {
		needs = append(needs, err.Error())
	}
	for program, debian := range map[string]string{
		"chroot": "coreutils", "mount": "mount", "nsenter": "util-linux", "unshare": "util-linux", "hostname": "hostname",
	} {
		if _, err := exec.LookPath(program); err != nil {
			needs = append(needs, fmt.Sprintf("the program %s is needed: apt-get install --no-install-recommends %s", program, debian))
		}
	}
	if cloud == cloudReal {
		needs = append(needs, stack.UnmetRequirements()...)
	}
	return needs
}
