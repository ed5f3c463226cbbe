"""Faults around the files that runs write: killed writers, folders that ranks do not share, values that are not finite,
weights and embeddings that do not match."""
import array
import json
import os
import shlex
import signal
import shutil
import subprocess
import time


class HandedOut:
    """Sections of faults.Faults."""

    def prepare_inference(self):
        """Makes, once, a plan for training, plans for inference on several numbers of ranks, and weights."""
        if (self.folder / "w.st").exists():
            return
        commands = [f"{self.gnnplan} plan --graph small.npz --hidden 8 --ranks {n} -o train{n}.json" for n in (1, 2, 3)]
        commands += [f"{self.gnnplan} plan --task infer --graph small.npz --hidden 8 --ranks {n} -o infer{n}.json"
                     for n in (1, 2, 4)]
        commands += [f"{self.gnnrun} train1.json --data small.npz --threads 1 --epochs 3 --save-weights w.st -q"]
        for command in commands:
            self.expect("prepare", command, [0])

    def infer(self, ranks, arguments, mpi=False, weights="w.st"):
        start, where = (f"mpirun -n {ranks} ", "") if mpi else ("", "--in-process")
        return (f"{start}{self.gnnrun} infer{ranks}.json --data small.npz --threads 1 {where} --load-weights "
                f"{weights} {arguments}")

    # --- killed writers ---

    def leftovers(self, folder):
        """The names of temporary files in the folder and below it."""
        return [os.path.join(at, name) for at, folders, files in os.walk(self.folder / folder)
                for name in folders + files if ".tmp-" in name]

    def killed_writers(self):
        """A process gets SIGKILL at a random time of its run, again and again: the next run removes its leftovers."""
        self.prepare_inference()
        train = f"{self.gnnrun} train1.json --data small.npz --threads 1 -q"
        infer = self.infer(4, "-q")
        kinds = {
            "plan": f"{self.gnnplan} plan --graph small.npz --hidden 8 --ranks 2 -o killed/p.json --table "
                    "killed/t.json",
            "graph as a file": f"{self.gnnplan} graph generate planted --vertices 3000 --nonzeros 30000 -o "
                               "killed/g.npz",
            "graph as a folder": f"rm -rf killed/g; {self.gnnplan} graph generate planted --vertices 3000 --nonzeros "
                                 "30000 -o killed/g",
            "report, trace, weights": f"{train} --epochs 5 --report killed/r.json --trace killed/t.json "
                                      "--save-weights killed/w.st",
            "checkpoints": f"{train} --epochs 40 --checkpoint killed/c --checkpoint-every 1 --resume auto",
            "embeddings": f"{infer} --save-embeddings killed/e.npy",
            "embeddings in parts": f"rm -f killed/parts/index.json; {infer} --save-embeddings killed/parts/",
            "layers": f"{infer} --save-layers killed/layers --resume auto --save-embeddings killed/e.npy",
        }
        kills = (48 if self.quick else 1000) // len(kinds)
        left = sum(self.kill_a_writer(name, command, kills) for name, command in kinds.items())
        self.remarks.append(f"{kills * len(kinds)} writers were killed: {left} left a temporary file or folder, and "
                            "the next run removed it")
        for attempt in range(2 if self.quick else 20):
            self.kill_a_writing_rank(attempt)

    def kill_a_writer(self, name, command, kills):
        shutil.rmtree(self.folder / "killed", ignore_errors=True)
        (self.folder / "killed").mkdir()
        took = self.run(command).seconds
        left = 0
        for _ in range(kills):
            if self.random.random() < 0.5:  # half of them replace files, or go on from them; the others begin anew
                shutil.rmtree(self.folder / "killed")
                (self.folder / "killed").mkdir()
            before = len(self.leftovers("killed"))
            with subprocess.Popen(["bash", "-c",
                                   command.replace("; ", "; exec ") if "; " in command else "exec " + command],
                                  cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                time.sleep(self.random.uniform(0, 1.1 * took))
                process.send_signal(signal.SIGKILL)
            left += max(0, len(self.leftovers("killed")) - before)
        ended = self.run(command)
        remain = self.leftovers("killed")
        why = (f"exit code {ended.code} of the run after the last kill" if ended.code != 0
               else f"{remain} stay" if remain else "")
        self.note(f"{name}, {kills} kills", why, ended.text)
        return left

    def kill_a_writing_rank(self, attempt):
        """A file that several processes write has a name meanwhile; its next writer removes what a killed one left,
        even before anybody has waited for that one."""
        command = self.infer(4, "--save-embeddings killed.npy -q", mpi=True).replace(
            self.gnnrun, "bash -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec \"$@\"' - " + self.gnnrun)
        rank = self.random.randrange(4)
        self.run(f"rm -f pid.*; {command} & mpirun=$!; until test -s pid.{rank}; do sleep .01; done; sleep "
                 f"{self.random.uniform(0.05, 0.7):.3f}; "
                 f"kill -KILL $(cat pid.{rank}); wait $mpirun; rm -f pid.*", 35)
        left = [name for name in self.leftovers(".") if "killed.npy" in name]
        self.expect(f"a rank that writes, kill {attempt + 1}: {len(left)} left, and the next run",
                    self.infer(4, "--save-embeddings killed.npy -q", mpi=True), [0],
                    also=lambda: ", ".join(name for name in self.leftovers(".") if "killed.npy" in name))

    # --- folders ---

    def unshared_folders(self):
        """Ranks that see different folders under one name are refused before the pass, and leave nothing."""
        self.prepare_inference()
        run = (f"{self.gnnrun} {self.folder}/infer4.json --data {self.folder}/small.npz --threads 1 --load-weights "
               f"{self.folder}/w.st")
        says = "rank 3 on .* does not see the folder into which rank 0 writes"
        for folder in ("own", "mounted"):
            (self.folder / folder).mkdir(exist_ok=True)
        for name, flag in (("parts", "--save-embeddings {}apart/"), ("a file", "--save-embeddings {}e.npy"),
                           ("layers", "--save-layers {}apart")):
            def left():
                folders = (self.folder, self.folder / "own", self.folder / "mounted")
                here = [str(folder / name) for folder in folders for name in ("apart", "e.npy")
                        if (folder / name).exists()]
                return ", ".join(here + self.leftovers("."))
            here = f"{run} {flag.format('')}"
            self.expect(f"{name}, another working folder", f"mpirun -n 3 {here} : -n 1 --wdir own {here}", [73], says,
                        left)
            there = f"{run} {flag.format('mounted/')}"
            self.expect(f"{name}, a file system of its own",
                        f"mpirun -n 3 {there} : -n 1 {self.mounted('mounted', '1m', 'exec ' + there)}", [73], says,
                        left)

    # --- values ---

    def values(self, name):
        data = (self.folder / name).read_bytes()
        numbers = array.array("f")
        numbers.frombytes(data[10 + int.from_bytes(data[8:10], "little"):])
        return numbers

    def weights_and_embeddings(self):
        """Embeddings after training are those of an inference by the weights that were saved."""
        self.prepare_inference()
        for ranks in (1, 2, 3):
            for mpi in (False, True)[:1 if ranks == 1 else 2]:
                for flags in ("", "--keep-best"):
                    start, where = (f"mpirun -n {ranks} ", "") if mpi else ("", "--in-process")
                    train = (f"rm -f best.st e.npy f.npy; {start}{self.gnnrun} train{ranks}.json --data small.npz "
                             f"--threads 1 {where} --epochs 30 --eval-every 1 --autotune 0 "
                             f"--dropout 0.3 {flags} --save-weights best.st --save-embeddings e.npy -q && "
                             f"{self.infer(1, '--save-embeddings f.npy -q', weights='best.st')}")
                    self.expect(f"{ranks} ranks, {'mpirun' if mpi else 'threads'} {flags}", train, [0],
                                also=self.difference)

    def difference(self):
        e, f = self.values("e.npy"), self.values("f.npy")
        apart = max(abs(a - b) for a, b in zip(e, f))
        return ("" if len(e) == len(f) and apart <= 1e-4 * max(map(abs, f))
                else f"embeddings differ by {apart} from those of the weights")

    def not_finite(self):
        """Values that are not finite are not written in any form."""
        self.prepare_inference()
        large = (f"{self.gnnrun} train2.json --data small.npz --in-process --threads 1 --lr 1e30 --epochs 1 "
                 "--save-weights large.st")
        for name, command in (("after training", f"{large} --save-embeddings n.npy --report n.json"),
                              ("inference",
                               f"{self.infer(2, '--save-embeddings n.npy --report n.json', weights='large.st')}"),
                              ("inference, mpirun, parts",
                               f"{self.infer(4, '--save-embeddings n/ --report n.json', True, 'large.st')}"),
                              ("layers",
                               f"{self.infer(2, '--save-layers n --save-embeddings n.npy --report n.json', weights='large.st')}")):
            def left():
                found = [path.name for path in (self.folder / "n.npy", self.folder / "n" / "layer-2.npy",
                                                self.folder / "n" / "index.json") if path.exists()]
                if (found or json.loads((self.folder / "n.json").read_text())
                        .get("not_finite", {}).get("values", 0) == 0):
                    return f"{found} is there, or the report does not say so"
                return ""
            self.expect(name, f"rm -rf n n.npy n.json; {command}", [1], "of the values are not finite", left)

    # --- signals ---

    def signalled_inference(self):
        """A signal ends a pass with 75, and the next run goes on from the layers that were saved."""
        self.prepare_inference()
        planned = (f"{self.gnnplan} plan --task infer --graph large.npz --layers 6 --hidden 128 --ranks 2 -o "
                   "long2.json; "
                   f"{self.gnnplan} plan --graph large.npz --layers 6 --hidden 128 -o long1.json; "
                   f"{self.gnnrun} long1.json --data large.npz --epochs 1 --save-weights long.st -q")
        self.expect("prepare", planned, [0], limit=120)
        for name in ("INT", "TERM", "USR1", "HUP"):
            for mpi in (False, True):
                start, where = ("mpirun -n 2 ", "") if mpi else ("", "--in-process")
                run = (f"{start}{self.gnnrun} long2.json --data large.npz --threads 1 {where} --load-weights long.st "
                       "--save-layers passed --save-embeddings passed.npy")
                # mpirun passes on SIGUSR1 alone of these signals; the others are sent to a rank.
                target = "$pid" if not mpi or name == "USR1" else "$(pgrep -P $pid | head -1)"
                command = (f"rm -rf passed passed.npy; exec 3>&2; ({'exec ' + run}) & pid=$!; until test -s "
                           f"passed/layer-1.npy; do sleep .01; done; kill -{name} {target}; "
                           f"wait $pid; code=$?; test -e passed.npy && echo embeddings; {run} --resume passed -q || "
                           "exit 1; test -s passed.npy && exit $code")
                self.expect(f"SIG{name}, {'mpirun' if mpi else 'threads'}", command, [75], "resume with: ",
                            lambda: ", ".join(self.leftovers(".")), limit=60)
