package main

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const resource = "CAP_SYS_RESOURCE"

// rights are those of a process.
type rights struct {
	capabilities []string
	oomScoreAdj  int64
	// limits are hard limits by the name that they have in configurations, e.g. RLIMIT_NOFILE.
	limits map[string]uint64
}

func ownRights() rights {
	status, _ := os.ReadFile("/proc/self/status") // unreadable is like all rights
	adj, _ := os.ReadFile("/proc/self/oom_score_adj")
	own := rights{capabilities: capabilitiesOf(string(status)), limits: map[string]uint64{}}
	own.oomScoreAdj, _ = strconv.ParseInt(strings.TrimSpace(string(adj)), 10, 64)
	for number, name := range limitNames() {
		var limit syscall.Rlimit
		if syscall.Getrlimit(number, &limit) == nil {
			own.limits[name] = limit.Max
		}
	}
	return own
}

// capabilitiesOf reads those that a process has and may give away from its status, proc_pid_status(5).
func capabilitiesOf(status string) []string {
	mask := ^uint64(0)
	for line := range strings.Lines(status) {
		key, value, _ := strings.Cut(line, ":")
		if key != "CapPrm" && key != "CapBnd" {
			continue
		}
		if set, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64); err == nil {
			mask &= set
		}
	}
	var names []string
	for number, name := range capabilityNames() {
		if mask>>number&1 == 1 {
			names = append(names, "CAP_"+name)
		}
	}
	return names
}

// limit takes from what a process is to have (process of the OCI runtime specification) all that goes beyond these rights.
func (r rights) limit(process map[string]any) {
	sets, _ := process["capabilities"].(map[string]any)
	for kind, value := range sets {
		asked, _ := value.([]any)
		sets[kind] = slices.DeleteFunc(asked, func(capability any) bool {
			name, _ := capability.(string)
			return !slices.Contains(r.capabilities, name)
		})
	}
	if slices.Contains(r.capabilities, resource) {
		return // it may have any score and any limit
	}
	if asked, ok := number(process["oomScoreAdj"]); ok && asked < r.oomScoreAdj {
		process["oomScoreAdj"] = r.oomScoreAdj
	}
	limits, _ := process["rlimits"].([]any)
	for _, value := range limits {
		limit, _ := value.(map[string]any)
		name, _ := limit["type"].(string)
		most, known := r.limits[name]
		for _, kind := range []string{"hard", "soft"} {
			asked, ok := limit[kind].(json.Number)
			if wanted, err := strconv.ParseUint(asked.String(), 10, 64); ok && known && err == nil && wanted > most {
				limit[kind] = most
			}
		}
	}
}

func number(value any) (int64, bool) {
	n, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

// capabilityNames stand in the order of linux/capability.h.
func capabilityNames() []string {
	return strings.Fields(`CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE
SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM
BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE`)
}

// limitNames stand in the order of asm-generic/resource.h.
func limitNames() []string {
	return strings.Fields(`RLIMIT_CPU RLIMIT_FSIZE RLIMIT_DATA RLIMIT_STACK RLIMIT_CORE RLIMIT_RSS RLIMIT_NPROC RLIMIT_NOFILE
RLIMIT_MEMLOCK RLIMIT_AS RLIMIT_LOCKS RLIMIT_SIGPENDING RLIMIT_MSGQUEUE RLIMIT_NICE RLIMIT_RTPRIO RLIMIT_RTTIME`)
}
