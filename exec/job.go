package exec

import (
	"context"
	"io"
	"os"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/exec/fsys"
	"moon/exec/process"
	"moon/exec/way"
	"moon/plan/dialect"
	"moon/secret"
)

// Job is one attempt at one step, fully rendered.
type Job struct {
	Action  string         // canonical name; required
	Args    any            // *spec.ShellArgs and so on, as spec.Action.Decode made it; required
	Raw     map[string]any // the same as plain data
	Env     map[string]string
	Cwd     string        // required; absolute
	Timeout time.Duration // 0: none
	Creates string        // absolute paths
	Removes string
	Unless  string // shell commands
	OnlyIf  string
	NoLog   bool
	Again   bool // an earlier attempt may have done it, or a part

	Secrets *secret.Set // what must not be seen by others on the machine; may be nil
	// Decrypt gives the text of a source that Ansible Vault has encrypted; nil: it is taken as it is.
	Decrypt func(text []byte) ([]byte, error)
	// Pack gives the module in Python that the job is of, with all that it needs; nil: it is made from the files of this machine.
	Pack func() ([]byte, error)

	Become *Become // nil: it runs as the user who runs moon, or on another host as the user of the connection
	Host   *Host   // nil: this machine
	// Roams says that nobody chose Cwd: where the step's user may not enter it, the home directory will do.
	Roams bool
	From  fsys.Files // where it copies from; nil: OwnFiles
	To    Depot      // where the file goes that it fetches; nil: NewDepot
	// HostName is the host's name in the inventory, which fetched files are kept under; "": that of Host, or localhost.
	HostName string
	Dialect  dialect.Dialect // results are as it has them

	// Interactive gives the command of a step the user's terminal. Notice is the line that is shown there before.
	Interactive bool
	Notice      string
	Prefix      []string // what its command runs under there: sudo and its options

	// Trusted says that a dry run may execute what the playbook supplies or names: somebody has looked at its files, or has approved
	// the step. Project is the playbook's directory, where that is on the machine of the step; "" elsewhere.
	Trusted bool
	Project string

	Attempt string // RUN/STEP.ATTEMPT, or a mark of no run, by which its processes are known; "" where nobody needs to find them

	Incremental *Incremental // nil for a step without sources and generates

	// Reach is the way to the machine of the step, for an action plugin, which does its work here; nil for anything else.
	Reach *Reach

	Details *StepDetails // what a plugin learns of its step, beside the arguments; may be nil

	Diff   bool            // compute diffs of text
	Output *steplog.Writer // required for Run; where the output goes
	Names  Names

	// Background says that the job is kept apart, and may continue without the process that starts it; nil: it is not. Local knows nothing
	// of it; package remote does.
	Background *Background

	// Now is closed when the user wants the process gone without grace.
	Now <-chan struct{}

	// Owner is the loop whose thread the job has, for one that OnlyWaits; nil: it has a goroutine of its own.
	Owner *process.Owner
}

// Incremental is what a step is made from and what it makes. A step is up to date when everything it makes is there and
// the digest over its sources, its command and its environment is the recorded one.
type Incremental struct {
	Sources   []string // globs of absolute paths
	Generates []string
	Identity  string // of the step, where its arguments must not be digested
	Recorded  string // when it last ended well; "" if it never did
	Force     bool   // run it in any case
	// Forget takes the record away before the step runs, which may leave what it makes half made. Not in a dry run.
	Forget func() error
}

// StepDetails is what a plugin learns of the step that it carries out.
type StepDetails struct {
	Name         string
	Host         string // in the inventory
	File         string // of the playbook
	Line, Column int
	Vars         map[string]any // those that the step uses
	// Python runs what is written in Python on the machine of the step, in the place of the one that was found; "": that one.
	Python string
}

// Become is another user that a step runs as. Local knows nothing of it; package remote does.
type Become struct {
	User   string // required
	Method string // sudo, su or doas; "": sudo, or nothing where moon is root, who needs none
	Flags  string `cbor:",omitempty"` // further arguments of it, as package becoming keeps them; "": the usual ones
	// Password is what that asks for, where the playbook or the inventory says it; "": they do not. It is a secret.
	Password string
}

// Host is another machine that a step runs on, and how it is reached: what the user's OpenSSH does not know from its own
// configuration, or the program that leads there instead. Local knows nothing of it; package remote does. Two that are equal share
// their connections.
type Host struct {
	Name    string        // in the inventory; required
	Address string        // "": Name
	Port    int           // 0: as ssh has it
	User    string        // "": as ssh has it
	Key     string        // path of a private key; "": as ssh has it
	Args    string        // further arguments for ssh, as a shell splits them
	Program string        // what runs as ssh; "": ssh
	Timeout time.Duration // for connecting; 0: a default
	Way     way.Way       // what leads there; zero: ssh
	// Password is what the connection asks for; "": keys and agents have to do. It is a secret.
	Password string
}

// Depot is where a fetched file goes: one file, on the machine of whoever runs moon.
type Depot interface {
	// Sum is the path of the file, and the SHA-1 of what is there; "" if nothing is.
	Sum(src string) (path, sum string, err error)
	// Put adds a piece of the new content. The last one puts all of it in the file's place.
	Put(piece []byte, last bool) error
}

// Names gives an action the step's variables: for template files and for conditions such as assert's.
type Names interface {
	// Render renders a template text. File is where it comes from, for errors.
	Render(text, file string) (string, error)
	// Holds decides a condition.
	Holds(condition string) (bool, error)
	// Value evaluates an expression.
	Value(expression string) (any, error)
}

// Talker are Names that a program in Python may ask for what it likes of, as the helper of package python asks.
type Talker interface {
	Names
	// Answer answers a question of the helper. After an error nothing more is to be asked.
	Answer(question []byte) ([]byte, error)
	// Encode writes a value as the helper takes it.
	Encode(v any) ([]byte, error)
	// SearchPath are the directories in which the files of the step are looked for.
	SearchPath() []string
}

// Line is a command for a shell, with what it reads. What does a part of a step's work elsewhere has it carried out where the step is.
type Line struct {
	Command string
	Input   []byte
}

// Reach is the way to the machine of a step, for what does the step's work where moon runs.
type Reach struct {
	Machine   string // its name in the inventory; "": that of moon
	Transport string // ssh, local, or what else leads there
	Address   string
	Becomes   bool // the step is another user's than the one that is logged in, who may have no home
	// Run carries out a line as the step's user. One that ended by itself is OK whatever its status, and its fields are rc, and stdout and
	// stderr as bytes.
	Run func(context.Context, Line) Result
}

// Result is how an attempt ended.
type Result struct {
	Outcome events.Outcome // OK, Changed, Skipped, Failed, Timeout or Cancelled; on another host also Lost or Unreachable
	Reason  events.SkipReason
	Detail  string
	RC      *int
	Error   string
	Class   string
	Fields  map[string]any // what the action adds to the registered value
	Values  map[string]any // variables it sets
	Sources string         // of an incremental step that ran: what to record if it ended well
	Message string         // of print
	Diff    *events.Diff
	// Resources are the things that it made, changed or removed, in this order.
	Resources []events.Resource
	Warnings  []string

	// Age is how long ago what a dry run looks at was changed last, by the clock of this machine; 0 if that is not known.
	Age time.Duration
	// Took is how long that machine needed until it knew the age. The rest of the time that passes for whoever asks is the way.
	Took time.Duration

	// Lacks says what a dry run did not find, and an earlier step might make. A real run would have failed.
	Lacks string
}

// Getenv is a variable of the step's environment.
func (j *Job) Getenv(name string) string {
	if value, ok := j.Env[name]; ok {
		return value
	}
	return os.Getenv(name)
}

// Files are where this step copies from.
func (j *Job) Files() fsys.Files {
	if j.From == nil {
		return fsys.OwnFiles{}
	}
	return j.From
}

// ReadSource is the whole of a file that the step is made from.
func (j *Job) ReadSource(path string) ([]byte, error) {
	f, err := j.Files().Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(f)
}
