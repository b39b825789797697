package accept

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/containernetworking/cni/pkg/skel"
	current "github.com/containernetworking/cni/pkg/types/100"
	cniversion "github.com/containernetworking/cni/pkg/version"
	"github.com/containernetworking/plugins/plugins/ipam/host-local/backend/allocator"
	"github.com/containernetworking/plugins/plugins/ipam/host-local/backend/disk"
)

// The plugins that give addresses.
const (
	ipamCalico    = "calico-ipam"
	ipamHostLocal = "host-local"
)

// recordVariable names the file that calls of the IPAM plugins are recorded in.
const recordVariable = "TRELLIS_CALICO_RECORD"

// ipamCall is a call of an IPAM plugin by Calico's plugin.
type ipamCall struct {
	Plugin  string `json:"plugin"`
	Command string `json:"command"`
	Stdout  string `json:"stdout"`
	Failed  bool   `json:"failed"`
}

// recordIPAM runs the plugin itself as a process, and records its result. It returns the exit code.
func recordIPAM(name, record string) int {
	stdin, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 1
	}
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	var stdout bytes.Buffer
	command := exec.Command(self)
	command.Args = []string{name}
	command.Env = append(os.Environ(), recordVariable+"=")
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(stdin), &stdout, os.Stderr
	err = command.Run()
	call, encodeErr := json.Marshal(ipamCall{name, os.Getenv("CNI_COMMAND"), stdout.String(), err != nil})
	file, openErr := os.OpenFile(record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if encodeErr != nil || openErr != nil {
		return 1
	}
	_, writeErr := file.Write(append(call, '\n'))
	if err := errors.Join(writeErr, file.Close()); err != nil {
		return 1
	}
	_, _ = os.Stdout.Write(stdout.Bytes())
	if err != nil {
		return 1
	}
	return 0
}

func readCalls(record string) ([]ipamCall, error) {
	raw, err := os.ReadFile(record)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var calls []ipamCall
	for decoder := json.NewDecoder(bytes.NewReader(raw)); decoder.More(); {
		var call ipamCall
		if err := decoder.Decode(&call); err != nil {
			return nil, fmt.Errorf("reading the record of the IPAM plugin: %w", err)
		}
		calls = append(calls, call)
	}
	return calls, nil
}

// hostLocal is the plugin host-local: its parser, its allocator and its store. Only its main function is not a package.
func hostLocal() {
	add := func(arguments *skel.CmdArgs) error {
		config, version, err := allocator.LoadIPAMConfig(arguments.StdinData, arguments.Args)
		if err != nil {
			return err
		}
		store, err := disk.New(config.Name, config.DataDir)
		if err != nil {
			return err
		}
		defer func() { _ = store.Close() }()
		result := &current.Result{CNIVersion: current.ImplementedSpecVersion, Routes: config.Routes}
		for i := range config.Ranges {
			address, err := allocator.NewIPAllocator(&config.Ranges[i], store, i).Get(arguments.ContainerID, arguments.IfName, nil)
			if err != nil {
				return err
			}
			result.IPs = append(result.IPs, address)
		}
		converted, err := result.GetAsVersion(version)
		if err != nil {
			return err
		}
		return converted.Print()
	}
	nothing := func(*skel.CmdArgs) error { return nil }
	skel.PluginMainFuncs(skel.CNIFuncs{Add: add, Check: nothing, Del: nothing}, cniversion.All, ipamHostLocal)
}
