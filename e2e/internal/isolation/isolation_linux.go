package isolation

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Check tells why this machine cannot isolate a program; nil if it can, as far as is known before it is tried.
func Check() error {
	if os.Geteuid() != 0 {
		return errors.New("a network, mounts and a process tree of its own take root")
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("reading the capabilities of this process: %w", err)
	}
	for capability, purpose := range map[int]string{
		unix.CAP_SYS_ADMIN:  "CAP_SYS_ADMIN, to create namespaces and to mount",
		unix.CAP_NET_ADMIN:  "CAP_NET_ADMIN, to create a network",
		unix.CAP_SYS_CHROOT: "CAP_SYS_CHROOT, to give a container its files",
	} {
		if data[capability/32].Effective&(1<<(capability%32)) == 0 {
			return fmt.Errorf("root lacks %s", purpose)
		}
	}
	return nil
}

// Run runs this program with its arguments in namespaces of its own, and returns its exit code. SIGINT and SIGTERM are passed on to it.
func Run() (int, error) {
	runtime.LockOSThread() // the first process is killed when the thread ends that has started it
	defer runtime.UnlockOSThread()
	path, err := os.Executable()
	if err != nil {
		return 0, err
	}
	first := exec.Command(path, os.Args[1:]...)
	first.Stdin, first.Stdout, first.Stderr = os.Stdin, os.Stdout, os.Stderr
	first.Env = append(os.Environ(), roleVariable+"="+roleFirst)
	first.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
		Setpgid:    true, // Ctrl-C reaches this process only, which passes it on once
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := first.Start(); err != nil {
		return 0, fmt.Errorf("creating namespaces for a network, mounts and processes: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- first.Wait() }()
	for {
		select {
		case received := <-signals:
			_ = first.Process.Signal(received)
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return 0, err
			}
			return first.ProcessState.ExitCode(), nil
		}
	}
}

// runFirst is the life of the first process. When it ends, the kernel kills all others.
func runFirst(network Network) int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	err := errors.Join(mountOwn(), network.create())
	if err == nil {
		var code int
		if code, err = runProgram(signals); err == nil {
			return code
		}
	}
	fmt.Fprintln(os.Stderr, "isolating this program:", err)
	return 1
}

// runProgram runs the program and collects the state of all processes that end meanwhile, as the first process of a tree must.
func runProgram(signals <-chan os.Signal) (int, error) {
	path, err := os.Executable()
	if err != nil {
		return 0, err
	}
	if err := os.Setenv(roleVariable, roleProgram); err != nil {
		return 0, err
	}
	program, err := os.StartProcess(path, os.Args, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return 0, err
	}
	go func() {
		for received := range signals {
			_ = program.Signal(received)
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return 0, fmt.Errorf("waiting for processes: %w", err)
		case pid == program.Pid && status.Signaled():
			return 128 + int(status.Signal()), nil
		case pid == program.Pid:
			return status.ExitStatus(), nil
		}
	}
}

// mountOwn keeps mounts from the machine, and mounts a /proc with the own processes.
func mountOwn() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separating mounts: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	return nil
}

// nonLocalBind is a setting of the own network.
const nonLocalBind = "/proc/sys/net/ipv6/ip_nonlocal_bind"

func (n Network) create() error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("looking for the loopback interface: %w", err)
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		return fmt.Errorf("starting the loopback interface: %w", err)
	}
	// Unlike those of IPv4, addresses of a local range of IPv6 cannot be listened at before this.
	if err := os.WriteFile(nonLocalBind, []byte("1"), 0); err != nil {
		return fmt.Errorf("allowing servers at addresses of local ranges of IPv6: %w", err)
	}
	for _, local := range n.Local {
		route := &netlink.Route{
			LinkIndex: loopback.Attrs().Index, Dst: ipNet(local), Type: unix.RTN_LOCAL, Table: unix.RT_TABLE_LOCAL, Scope: netlink.SCOPE_HOST,
		}
		if err := netlink.RouteAdd(route); err != nil {
			return fmt.Errorf("routing %s to this host: %w", local, err)
		}
	}
	for _, bridge := range n.Bridges {
		if err := bridge.create(); err != nil {
			return fmt.Errorf("creating the bridge %s (the kernel's module bridge is needed): %w", bridge.Name, err)
		}
	}
	return nil
}

func (b Bridge) create() error {
	link := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: b.Name}}
	if err := netlink.LinkAdd(link); err != nil {
		return err
	}
	address := ipNet(b.Address)
	address.IP = b.Address.Addr().AsSlice()
	if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: address}); err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}

// ipNet is the network of a prefix.
func ipNet(prefix netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: prefix.Masked().Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())}
}
