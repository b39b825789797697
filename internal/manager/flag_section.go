package manager

// FlagSection is a group of flags specific to a Binary, under one heading of --help.
type FlagSection struct {
	Title string
	Flags []Flag
}

// Flag is a flag of a FlagSection.
type Flag struct {
	// Name is the name of the flag, without dashes. Value is the placeholder of its value in --help.
	Name, Value string
	// Usage is a sentence, Allowed and Defaults are clauses for --help; the last two may be empty.
	Usage, Allowed, Defaults string
	// Set parses and stores the value. Its error follows the value in the message: "must be a size".
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
