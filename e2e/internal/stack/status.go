package stack

import (
	"fmt"
	"strconv"

	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

// Status prints the state of all daemons, and reports whether all are running.
func (s *Stack) Status() (bool, error) {
	there, err := s.layout.verify()
	if err != nil {
		return false, err
	}
	if !there {
		s.screen.Linef("There is no %s: the cloud is down.", s.layout.dir)
		return false, nil
	}
	all := true
	const columns = "  %s %-20s %-8s %-16s %s"
	s.screen.Linef("%s", s.screen.Styled(terminal.Dim, fmt.Sprintf(columns, " ", "DAEMON", "PID", "ADDRESS", "LOG")))
	for _, d := range s.layout.daemons() {
		sign, number, address := s.screen.Styled(terminal.Red, "✗"), "-", "-"
		if i, yes := s.layout.running(d.name); yes {
			sign, number = s.screen.Styled(terminal.Green, "✓"), strconv.Itoa(i.pid)
		} else {
			all = false
		}
		if portOf(d.name) != 0 {
			address = addressOf(d.name)
		}
		s.screen.Linef(columns, sign, d.name, number, address, s.layout.log(d.name))
	}
	s.screen.Linef("\n  export OS_CLIENT_CONFIG_FILE=%s", s.Clouds())
	return all, nil
}
