package remote

import (
	"errors"

	"moon/exec"
	"moon/exec/action"
)

// theirDepot is where a fetched file goes: on the host, which alone knows the path.
type theirDepot struct{ *asking }

func (d theirDepot) Sum(src string) (path, sum string, err error) {
	got, err := d.askAndWait(ask{What: askSum, Text: src})
	sum, _ = got.Value.(string)
	return got.Text, sum, err
}

func (d theirDepot) Put(piece []byte, last bool) error {
	_, err := d.askAndWait(ask{What: askPut, Data: piece, Yes: last})
	return err
}

// errRehearsal refuses to write in a dry run.
var errRehearsal = errors.New("a dry run writes nothing")

// depotOf is where the job's file goes. It is the one path that a job may write on the host.
func (a *answering) depotOf() exec.Depot {
	if a.job.To != nil { // further on
		return a.job.To
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.depot == nil {
		a.depot = action.NewDepot(a.job)
	}
	return a.depot
}

func (a *answering) sumFile(src string) (path string, sum any, err error) {
	path, text, err := a.depotOf().Sum(src)
	return path, text, err
}

func (a *answering) putFile(q ask) error {
	if a.dry {
		return errRehearsal
	}
	return a.depotOf().Put(q.Data, q.Yes)
}
