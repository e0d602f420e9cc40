# A C compiler that is given the text without what it says of its loops: `sh unpromised.sh cc -O3 program.c -o program.so`.
for word do
    shift
    case $word in
    *.c)
        sed -e '/#pragma omp/d' -e '/#pragma GCC ivdep/d' "$word" > "$word.unpromised.c"
        word=$word.unpromised.c
        ;;
    esac
    set -- "$@" "$word"
done
exec "$@"
