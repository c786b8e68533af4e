# Completes the command lines of thumbjob in fish. The program itself knows its words; fish completes paths.

function __thumbjob_complete
    set -l before (commandline -opc)
    set -l typed (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $before[1])
    set -e before[1]
    set -l answer (command $program ---complete $before "$typed" 2>/dev/null)
    set -l kinds (string split ' ' -- $answer[1])
    set -e answer[1]
    set -q answer[1]; and printf '%s\n' $answer
    test "$kinds[1]" = none; and return
    # The value of --option=VALUE.
    set -l option (string match -r '^--[^=]*=' -- $typed)
    set -l path (string replace -r '^--[^=]*=' '' -- $typed)
    # For a command that it does not know, fish completes paths.
    set -l found (complete -C "__thumbjob_paths $path")
    set -l wanted
    if test "$kinds[1]" = folders
        set wanted (string match -r '^.*/(?:\t.*)?$' -- $found)
    else if set -q kinds[2]
        set wanted (string match -ri '^(?:.*/|.*\.(?:'(string join '|' $kinds[2..])'))(?:\t.*)?$' -- $found)
        # All files if none has one of the extensions.
        set -q wanted[1]; or set wanted $found
    else
        set wanted $found
    end
    printf '%s\n' "$option"$wanted
end

complete -c thumbjob -f -a '(__thumbjob_complete)'
