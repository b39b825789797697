package tuning

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tuneKubeletUnit changes the command line of the kubelet in its unit file, and the commands before it. All else is kept byte for byte.
func tuneKubeletUnit(text string, kubelet Kubelet) (string, error) {
	var err error
	for _, flag := range slices.Sorted(maps.Keys(kubelet.SetFlags)) {
		if text, err = setUnitFlag(text, flag, kubelet.SetFlags[flag]); err != nil {
			return "", err
		}
	}
	for _, command := range kubelet.StartBefore {
		if text, err = startBefore(text, command); err != nil {
			return "", err
		}
	}
	return text, nil
}

// setUnitFlag sets a flag in the command line of a service. A new flag is the last, so that it overrides flags in an environment variable.
func setUnitFlag(text, flag, value string) (string, error) {
	if strings.ContainsAny(value, " \t\r\n\"'\\") {
		return "", fmt.Errorf("the value of the flag %s does not fit into a unit: %q", flag, value)
	}
	main, err := mainCommand(text)
	if err != nil {
		return "", err
	}
	words, err := readCommandLine(text, main.valueStart, main.valueEnd)
	if err == nil && len(words) == 0 {
		err = errors.New("there is no command")
	}
	if err != nil {
		return "", fmt.Errorf("reading ExecStart: %w", err)
	}
	assignment, found := flag+"="+value, false
	for i, first := range slices.Backward(words) { // from the end, so that the positions before stay true
		width := wordsOfFlag(words[i:], flag)
		if width == 0 {
			continue
		}
		text, found = text[:first.start]+assignment+text[words[i+width-1].end:], true
	}
	if !found {
		end := words[len(words)-1].end
		text = text[:end] + " \\\n    " + assignment + text[end:]
	}
	return text, nil
}

func wordsOfFlag(words []word, flag string) int {
	arguments := make([]string, 0, 2)
	for _, word := range words[:min(2, len(words))] {
		arguments = append(arguments, word.text)
	}
	return flagWidth(arguments, flag)
}

// startBefore adds a command before the service's own, unless it is there already.
func startBefore(text, command string) (string, error) {
	if strings.ContainsAny(command, "\r\n") {
		return "", fmt.Errorf("a command does not fit into one line of a unit: %q", command)
	}
	main, err := mainCommand(text)
	if err != nil {
		return "", err
	}
	assignments, err := readUnit(text)
	if err != nil {
		return "", err
	}
	for _, a := range assignments {
		if a.section == main.section && a.key == "ExecStartPre" && strings.TrimSpace(text[a.valueStart:a.valueEnd]) == command {
			return text, nil
		}
	}
	return text[:main.start] + "ExecStartPre=" + command + "\n" + text[main.start:], nil
}

// mainCommand finds the only ExecStart of a service. An empty one resets those before it.
func mainCommand(text string) (assignment, error) {
	assignments, err := readUnit(text)
	if err != nil {
		return assignment{}, err
	}
	commands := slices.DeleteFunc(assignments, func(a assignment) bool {
		return a.section != "Service" || a.key != "ExecStart" || strings.TrimSpace(text[a.valueStart:a.valueEnd]) == ""
	})
	if len(commands) != 1 {
		return assignment{}, errors.New("expected exactly one ExecStart in the section Service")
	}
	return commands[0], nil
}
