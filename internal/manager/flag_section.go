package manager

// FlagSection is a group of flags that a Binary has of its own, under one heading of --help.
type FlagSection struct {
	Title string
	Flags []Flag
}

// Flag is one of them.
type Flag struct {
	// Name is the flag's, without dashes. Value stands for its value in --help.
	Name, Value string
	// Usage is a sentence, Allowed and Defaults are clauses for --help; the last two may be empty.
	Usage, Allowed, Defaults string
	// Set takes the value. Its error follows the value in the message: "must be a size".
	Set func(text string) error
}

func (s FlagSection) section() section {
	own := section{title: s.Title}
	for _, f := range s.Flags {
		own.flags = append(own.flags, setting{
			name: f.Name, value: f.Value, usage: f.Usage, allowed: f.Allowed, defaults: f.Defaults, parse: f.Set,
		})
	}
	return own
}
